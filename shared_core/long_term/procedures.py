"""`Procedures`: what worked and what did not, offered when its situation comes again (B7)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.long_term.mining import experience
from shared_core.long_term.mining.counting import Pattern
from shared_core.long_term.procedure import (
    FORMS,
    RESERVED,
    TYPE,
    Form,
    Procedure,
    checked_steps,
    likeness,
    offered,
    procedure,
    shown,
)
from shared_core.ports import Transaction
from shared_core.steps import Steps, both, threaded
from shared_core.store import audit, cascade, ledger, scopes, tombstones, vault
from shared_core.store.rows import Draft, dump, load
from shared_core.values import Kind, Record
from shared_core.writing.intake import fraction
from shared_core.writing.redact import redacted

if TYPE_CHECKING:
    from shared_core.scope import Scope

_TOLD: Final = "told"
Found = list[Procedure]


class Procedures:
    """What an agent knows how to do, and what it should leave.

    Made by `Scope.procedures`; every verb that reads or writes has an async twin with the prefix
    `a`. A procedure is a record of kind rule, so `Scope.search(kinds=["rule"])` finds it, and
    `Scope.delete` takes it away.

    >>> from shared_core import AgentMemory
    >>> procedures = AgentMemory.open(embedder="hashing").scope(user="ann").procedures
    >>> told = procedures.add("deploying to staging", ["run the tests", "build the image", "push it"])
    >>> procedures.outcome(told.id, True).success_rate
    1.0
    >>> print(procedures.match("deploying to staging")[0])
    deploying to staging:
    1. run the tests
    2. build the image
    3. push it
    """

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.procedures`."""
        self._scope = scope

    def __repr__(self) -> str:
        return f"Procedures(user={self._scope.user!r}, agent={self._scope.agent!r})"

    # ------------------------------------------------------------------ writing

    def _add(
        self,
        situation: str,
        steps: str | Mapping[str, Any] | Sequence[str | Mapping[str, Any]],
        *,
        form: Form | None = None,
        avoid: bool = False,
        importance: float = 0.5,
        metadata: Mapping[str, Any] | None = None,
        sources: Iterable[str] = (),
        id: str | None = None,
    ) -> Steps[Procedure]:
        """Keep what to do in a situation, or, with `avoid`, what not to do.

        `steps` is one text or several in order, or tool calls as {"tool", "args"}. `form` is "steps"
        (default), "if_then", "template" (a prompt) or "tools" (default where a step is a tool call).
        `sources` are the ids of the records it came from: it goes when all of those are gone. The same
        procedure told again is one record; a known `id` replaces.

        Raises `InvalidInput` for a blank situation or step, no steps, an unknown form, or a key of
        `metadata` that procedures use themselves, `NotFound` for an unknown source; nothing is stored then.
        """
        engine = self._scope._live()
        now = engine.now()
        item = self._draft(situation, steps, form, avoid, importance, metadata or {}, id, now)
        given = [sources] if isinstance(sources, str) else list(sources)
        engine.ready()
        yield from engine.embed([item])
        with engine.store.write() as tx:
            number = engine.claim_embedder(tx)
            scope = scopes.ensure_scope(tx, self._scope.user, self._scope.agent, now)
            origins = [self._scope._raw(tx, source)[0] for source in given]
            seqs, _ = ledger.put(tx, scope, [item], now, number)
            for origin in origins:
                tx.run("add_link", (seqs[0], origin, _TOLD, now))
            return self._known(tx, seqs)[0]

    add, aadd = both(_add)

    def _draft(
        self, situation: Any, steps: Any, form: Any, avoid: bool, importance: float, metadata: Any, id: str | None,
        now: int,
    ) -> Draft:  # fmt: skip
        intake = self._scope._intake
        told = intake.text(situation)
        kept = redacted(checked_steps(steps), intake.redactor)
        chosen = form or ("tools" if any(isinstance(step, Mapping) for step in kept) else "steps")
        if chosen not in FORMS:
            raise InvalidInput(f"unknown form {form!r}; the forms are {', '.join(FORMS)}")
        if not isinstance(metadata, Mapping):
            raise InvalidType(f"metadata is a dict, not {type(metadata).__name__}")
        if taken := sorted(RESERVED & set(metadata)):
            raise InvalidInput(f"metadata has {taken}, which procedures use themselves; give these other names")
        held = {**metadata, "situation": told, "steps": kept, "form": chosen, "avoid": bool(avoid)}
        return intake.record(
            shown(told, kept, chosen, bool(avoid)), now=now, kind=Kind.RULE, type=TYPE, importance=importance,
            metadata=held, id=id,
        )  # fmt: skip

    # ------------------------------------------------------------------ mining

    def _mine(self) -> Steps[Found]:
        """Find what recurs in what happened: the procedures found, the best supported first.

        Read are the newest `settings.procedures.sessions` (200) sessions: what the user asked, the
        tools that were called and how that went, praise and complaint, events told with
        `episodes.add` (task_start, tool_call or step, error, task_complete, their details' "tool",
        "args" and "success"), and the finished tasks of the working memory. What at least
        `settings.procedures.support` (2) of them show is a procedure, and a warning (`avoid`) if it
        fails more often than not. An LLM, where there is one, says what they have in common; support
        and success are counted either way.

        A procedure holds what all its episodes share: counted, only words that stand in each of them; of
        an LLM's, no number or name that stands in some. It knows them (`Scope.sources`), and is gone
        when they are. Mining again updates it; one you deleted does not come back. Nothing is
        mined with `settings.procedures.mine=False`.
        """
        engine = self._scope._live()
        now = engine.now()
        if not engine.settings.procedures.mine:
            return []
        with engine.store.read() as tx:
            scope = self._scope._find(tx)
            told = [] if scope is None else experience.found(tx, scope, engine.settings.procedures)
        if scope is None:
            return []
        seen = yield from experience.recurring(engine, told)
        pairs = [(each, self._mined(each, now)) for each in seen]
        if pairs:
            engine.ready()
            yield from engine.embed([item for _, item in pairs])
        with engine.store.write() as tx:
            number = engine.claim_embedder(tx)
            seqs = self._take(tx, scope, pairs, now, number)
            ended = int(tx.rows("count_ended", {"scope": scope, "since": None})[0][0])
            audit.note(tx, scope, None, experience.MINED, now, {"ended": ended})
            return self._known(tx, seqs)

    mine, amine = both(_mine)

    def _after_session(self) -> Steps[None]:
        """Mine if enough sessions have ended since the last time (`settings.procedures.every`)."""
        settings = self._scope._live().settings.procedures
        if not settings.mine or not settings.every:
            return
        with self._scope._live().store.look() as tx:
            number = self._scope._find(tx)
            if number is None:
                return
            detail, at = next(iter(tx.rows("last_mined", {"scope": number})), (None, -1))
            ended = int(tx.rows("count_ended", {"scope": number, "since": None})[0][0])
            later = int(tx.rows("count_ended", {"scope": number, "since": at})[0][0])
        # By number, as a clock may stand still; by time, as sessions may have been deleted.
        if max(ended - int((load(detail) or {}).get("ended", 0)), later) >= settings.every:
            yield from self._mine()

    def _mined(self, pattern: Pattern, now: int) -> Draft:
        item = self._draft(pattern.situation, pattern.steps, None, pattern.avoid, 0.5, {}, None, now)
        held = {
            **(load(item.metadata) or {}), "mined": True, "support": pattern.support, "successes": pattern.successes,
            "pattern": pattern.key,
        }  # fmt: skip
        item.metadata = self._scope._live().intake.metadata(held)
        item.source, item.digest = experience.MINED, None
        return item

    def _take(
        self, tx: Transaction, scope: int, pairs: Sequence[tuple[Pattern, Draft]], now: int, embedder: int | None
    ) -> Sequence[int]:
        """Write what was mined over what was mined before; the seqs of what was found now."""
        settings = self._scope._live().settings.procedures
        kept = tx.rows("scope_rules_kept", {"scope": scope, "now": now})
        known = {row[0]: each for row, each in zip(kept, self._known(tx, [row[0] for row in kept]), strict=True)}
        known = {seq: each for seq, each in known.items() if each.mined}
        links: dict[int, set[int]] = {seq: set() for seq in known}
        for record, source in tx.rows("links_of", {"seqs": dump([*known])}):
            links[record].add(source)
        done: list[int] = []
        for pattern, item in pairs:
            alive = {row[0] for row in tx.rows("existing", {"seqs": dump([*pattern.sources])})}
            if len(alive) < len(pattern.sources) or self._unwanted(tx, scope, pattern, item):
                continue
            old = next(
                (seq for seq, each in known.items() if seq not in done
                 and experience.same_pattern(pattern, each, [*links[seq]], settings.alike)), None,
            )  # fmt: skip
            if old is not None:
                item.id = known[old].id
                before = known[old].record
                if (before.text, dump(before.metadata)) == (item.text, item.metadata) and links[old] == alive:
                    done.append(old)
                    continue
                tx.run("delete_links", (old,))
            seqs, _ = ledger.put(tx, scope, [item], now, embedder)
            tx.many("add_link", [(seqs[0], source, experience.MINED, now) for source in pattern.sources])
            done.append(seqs[0])
        lost = [seq for seq in known if seq not in done and len(links[seq]) < settings.support]
        cascade.erase(tx, scope, lost, now, action="withdrawn")
        return done

    @staticmethod
    def _unwanted(tx: Transaction, scope: int, pattern: Pattern, item: Draft) -> bool:
        """Whether somebody erased just this procedure while its episodes stayed."""
        ids = [tx.rows("raw_record", {"seq": source})[0][1] for source in pattern.sources]
        return any(tombstones.was_erased(tx, scope, id, item.text) for id in ids)

    def outcome(self, id: str, success: bool, detail: str | None = None) -> Procedure:
        """Tell how a procedure went; its success rate follows. `detail` says more, if you like.

        Raises `NotFound` for an unknown id, `InvalidInput` for a record that is no procedure,
        `InvalidType` for a success that is neither True nor False.
        """
        engine = self._scope._live()
        if not isinstance(success, bool):
            raise InvalidType(f"success is True or False, not {success!r}")
        intake = self._scope._intake
        said = None if detail is None else intake.text(detail)
        with engine.store.write() as tx:
            seq, item, scope = self._scope._raw(tx, id)
            if item.kind != Kind.RULE:
                raise InvalidInput(f"{id!r} is a {item.kind}; outcomes are told of procedures, which are rules")
            tx.run("add_outcome", (seq, int(success), engine.now(), said))
            vault.keep(tx, scope, intake.taken(), engine.now())
            return self._known(tx, [seq])[0]

    # ------------------------------------------------------------------ reading

    def _match(
        self, situation: str, k: int = 3, *, min_likeness: float | None = None, min_success: float | None = None
    ) -> Steps[Found]:
        """The `k` procedures that help in a situation, the likeliest to help first.

        A situation has to be as like as `settings.procedures.min_likeness` (0.5: words or meaning
        agree), and the rate to reckon with, (successes + 1) / (support + 2), at least
        `settings.procedures.min_success` (0.4); of a warning (`avoid`) it is the rate of failures. A
        rule that was told as one text, with `Scope.add(kind="rule")`, is matched by that text.
        """
        engine = self._scope._live()
        settings = engine.settings
        if not isinstance(k, int) or isinstance(k, bool) or k < 0:
            raise InvalidInput(f"k is a whole number from 0, not {k!r}")
        if k > settings.limits.k:
            raise LimitExceeded(f"k is {k}; limits.k is {settings.limits.k}")
        like = settings.procedures.min_likeness if min_likeness is None else fraction(min_likeness, "min_likeness")
        works = settings.procedures.min_success if min_success is None else fraction(min_success, "min_success")
        with engine.store.look() as tx:
            scope = self._scope._find(tx)
            if scope is None or not tx.rows("has_rules", {"scope": scope}):
                return []
        looked = min(max(k, settings.procedures.candidates), settings.limits.k)
        likest = yield from self._scope._likest(situation, Kind.RULE, looked)
        with engine.store.look() as tx:
            known = self._with_outcomes(tx, [(seq, hit.record) for seq, hit in likest])
        # The record's vector holds its steps too, which say little about when to take them.
        vectors = yield from engine.model.documents([situation, *(each.situation for each in known)])
        cosines = vectors[1:] @ vectors[0] if known else ()
        bonus = settings.recall.word_bonus
        scored = [
            replace(each, score=likeness(situation, each.situation, float(cosine), bonus))
            for each, cosine in zip(known, cosines, strict=True)
        ]
        found = offered(scored, min_likeness=like, min_success=works, k=k)
        given = {each.id for each in found}
        engine.accessed([seq for seq, hit in likest if hit.record.id in given], engine.now())
        return found

    match, amatch = both(_match)

    def list(self) -> Found:
        """All procedures, in the order they were first kept."""
        engine = self._scope._live()
        with engine.store.read() as tx:
            scope = self._scope._find(tx)
            found = [] if scope is None else tx.rows("scope_rules_kept", {"scope": scope, "now": engine.now()})
            return self._with_outcomes(tx, [(row[0], self._scope._counted(row)) for row in found])

    def get(self, id: str) -> Procedure | None:
        """The procedure with this id; None if there is none."""
        return next((each for each in self.list() if each.id == id), None)

    def _known(self, tx: Transaction, seqs: Sequence[int]) -> Found:
        records = self._scope._records(tx, seqs)
        return self._with_outcomes(tx, [(seq, records[seq]) for seq in seqs if seq in records])

    @staticmethod
    def _with_outcomes(tx: Transaction, pairs: Sequence[tuple[int, Record]]) -> Found:
        if not pairs:
            return []
        given = {"seqs": str([seq for seq, _ in pairs])}
        told = {row[0]: (row[1], row[2]) for row in tx.rows("outcomes_of", given)}
        return [procedure(record, *told.get(seq, (0, 0))) for seq, record in pairs]

    aoutcome = threaded(outcome)
    alist = threaded(list)
    aget = threaded(get)
