"""The verbs of a scope about what changes: confirming, asking the user, letting an LLM read what it owes."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from shared_core.deriving import learning
from shared_core.errors import InvalidInput, NotFound
from shared_core.steps import Steps, both, threaded
from shared_core.store import audit, rows, scopes
from shared_core.store.rows import instant
from shared_core.values import Question, Record, Status
from shared_core.verbs.handle import Handle

if TYPE_CHECKING:
    pass

_CHOICES = ("new", "old", "both")
Questions = list[Question]


class Changing(Handle):
    """What `Scope` does about facts that change."""

    def confirm(self, id: str) -> Record:
        """Say that a memory still holds: its time to live (`settings.facts.time_to_live`) starts anew.

        Raises `NotFound` for an unknown id, `InvalidInput` for a fact that was replaced.
        """
        engine = self._live()
        now = engine.now()
        with engine.store.write() as tx:
            seq, item, scope = self._raw(tx, id)
            if item.status != Status.ACTIVE:
                by = f" by {item.superseded_by!r}" if item.superseded_by else ""
                raise InvalidInput(f"{id!r} is {item.status}{by}; only what is remembered now can be confirmed")
            engine.intake.freshen(item, now)
            state = {"seq": seq, "now": now, "expires_at": item.expires_at, "revision": scopes.bump(tx, scope)}
            tx.run("confirm_record", state)
            audit.note(tx, scope, id, "confirmed", now, {})
            return self._records(tx, [seq])[seq]

    def questions(self) -> Questions:
        """Pairs of facts that can't both be true, and wait for the user's answer (`strategy="ask"`), oldest first."""
        with self._live().store.look() as tx:
            scope = self._find(tx)
            found = [] if scope is None else tx.rows("open_questions", {"scope": scope})
        return [_question(row) for row in found]

    def answer(self, question: Question | str, choice: str | int) -> Record:
        """Settle a question, and get the record that holds now (the new one if both do).

        `question` is one of `questions()` or its id; `choice` one of its choices, the choice's
        place in the list, or "new", "old" or "both". What is not chosen is kept as superseded.

        Raises `NotFound` for a question that is not open, `InvalidInput` for another choice.
        """
        engine = self._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = self._find(tx)
            found = [] if scope is None else tx.rows("open_questions", {"scope": scope})
            id = question.id if isinstance(question, Question) else question
            row = next((row for row in found if row[0] == id), None)
            if row is None or scope is None:
                raise NotFound(f"no open question {id!r}; scope.questions() gives those there are")
            chosen = _choice(_question(row), choice)
            tx.run("answer_question", {"id": id, "now": now})
            new, old = int(row[6]), int(row[7])
            writer = learning.writer(engine, tx, scope, now, None)
            kept = writer.settle(new, old, chosen)
            return self._records(tx, [kept])[kept]

    def _resume(self) -> Steps[int]:
        """Let the LLM read the turns it has not read yet, and keep what it finds; how many were done with.

        Happens by itself at the next message, unless `settings.facts.llm` is "later". Without an LLM
        nothing is owed, and the answer is 0.
        """
        return (yield from learning.resume(self._whole))

    resume, aresume = both(_resume)

    aconfirm = threaded(confirm)
    aquestions = threaded(questions)
    aanswer = threaded(answer)


def _question(row: tuple[Any, ...]) -> Question:
    return Question(
        id=row[0], text=row[1], choices=tuple(rows.load(row[2])), new=row[3], old=row[4], created_at=instant(row[5])
    )


def _choice(question: Question, choice: str | int) -> str:
    """Which of new, old and both is meant."""
    if isinstance(choice, int) and not isinstance(choice, bool) and 0 <= choice < len(question.choices):
        return _CHOICES[choice]
    if isinstance(choice, str):
        if choice in question.choices:
            return _CHOICES[question.choices.index(choice)]
        if choice in _CHOICES:
            return choice
    raise InvalidInput(f"{choice!r} is none of the choices {list(question.choices)}, 0 to 2, 'new', 'old' or 'both'")
