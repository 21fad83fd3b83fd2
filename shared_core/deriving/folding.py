"""Folding: the part of a conversation that has left the window becomes part of its running summary (A4).

The summary is kept in the session's row with the position it reaches, and read again before every
write: what was made of one state of the talk is never written over another. Works for whatever can
name its row (`Talker`): a session.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from shared_core.engine import Engine
from shared_core.errors import StoreError
from shared_core.ports import Transaction
from shared_core.prompt.words import language
from shared_core.recall.text import is_blank
from shared_core.short_term import summary, tokens, window
from shared_core.steps import Steps
from shared_core.store import rows, tombstones
from shared_core.values import Message

if TYPE_CHECKING:
    from shared_core.scope import Scope

_LOG = logging.getLogger("twinmem.summary")
_ROOM = 0.75  # of a window's room that stays filled after folding, so that not every turn folds again
_NEWEST = 2**62
_TRIES = 20  # another writer was in between so often: it is their turn, and the next message tries again

Row = tuple[Any, ...]
"""A row of `messages_after`: the columns of a message, the last its position."""


class Talker(Protocol):
    """A conversation: its scope, and its row where it has one."""

    _scope: Scope
    id: str

    def _row(self, tx: Transaction) -> tuple[int, int] | None: ...


@dataclass(frozen=True, slots=True)
class _Talk:
    """The part of a conversation that no summary covers yet, and the summary before it."""

    scope: int
    session: int
    previous: str
    reaches: int  # the position up to which `previous` covers the talk
    rows: tuple[Row, ...]


@dataclass(frozen=True, slots=True)
class _Piece:
    """What is folded in one go: consecutive messages, in the words that may still be told."""

    rows: tuple[Row, ...]
    messages: tuple[Message, ...]


def asks_llm(engine: Engine) -> bool:
    """Whether summaries are left to the LLM."""
    return engine.llm is not None and engine.settings.summary.llm != "never"


# ---------------------------------------------------------------------- the summary


def due(session: Talker) -> bool:
    """Whether the talk after the summary is past the window's turns or tokens."""
    engine = session._scope._live()
    limits = engine.settings.window
    with engine.store.read() as tx:
        row = session._row(tx)
        if row is None:
            return False
        reaches, _, asked, chars = tx.rows("unsummarised", {"session": row[1]})[0]
        if asked < 2:  # the newest turn is never folded
            return False
        if asked > limits.max_turns:
            return True
        if chars <= limits.max_tokens:  # a token is rarely less than a character
            return False
        found = tx.rows("messages_after", {"session": row[1], "position": reaches})
    total = 0
    for each in reversed(found):
        total += tokens.count_message(rows.message(each), engine.count)
        if total > limits.max_tokens:
            return True
    return False


def fold(session: Talker, *, keep_turns: int | None = None, keep_tokens: int | None = None) -> Steps[bool]:
    """Fold what is older than the newest turns into the summary, piece by piece; whether all of it is folded.

    Without limits: `settings.summary.keep_turns`, and no more tokens than leave a window room. With
    `keep_turns=0` nothing stays: for a conversation that is over.
    """
    engine = session._scope._live()
    settings = engine.settings
    if keep_turns is None:
        keep_turns = settings.summary.keep_turns
        if keep_tokens is None:
            keep_tokens = _room(settings.window.max_tokens, settings.summary.share)
    for _ in range(_TRIES):
        with engine.store.read() as tx:
            talk = _talk(session, tx)
            pieces = [] if talk is None else list(_pieces(engine, tx, talk, keep_turns, keep_tokens))
        if talk is None or not pieces:
            return True
        previous, reaches = talk.previous, talk.reaches
        for piece in pieces:
            text = yield from _condensed(engine, previous, piece)
            if text is None:
                return False
            with engine.store.write() as tx:
                if not _unchanged(session, tx, previous, reaches, piece):
                    break
                reaches, previous = piece.rows[-1][8], text
                tx.run("set_summary", {"session": talk.session, "summary": text, "summarised": reaches})
        else:
            return True
    return False


def _room(max_tokens: int, share: float) -> int:
    return int(max_tokens * (1 - share) * _ROOM)


def _talk(session: Talker, tx: Transaction, last: int = _NEWEST) -> _Talk | None:
    """What no summary covers, up to the position `last`."""
    row = session._row(tx)
    if row is None:
        return None
    text, reaches, _ = tx.rows("session_digest", {"session": row[1]})[0]
    found = tx.rows("messages_between", {"session": row[1], "position": reaches, "last": last})
    if not reaches:  # system messages at the beginning stay as they are
        start = next((n for n, each in enumerate(found) if each[2] != "system"), len(found))
        found = found[start:]
    return _Talk(row[0], row[1], str(text or ""), int(reaches), tuple(found))


def _pieces(engine: Engine, tx: Transaction, talk: _Talk, keep_turns: int, keep_tokens: int | None) -> Iterator[_Piece]:
    """What is older than the turns to keep, in pieces of whole turns that fit a prompt."""
    turns = _turns(talk.rows)
    cut = _cut(turns, keep_turns, keep_tokens, engine)
    most = engine.settings.summary.batch_tokens
    waiting: list[Row] = []
    used = 0
    for turn in turns[:cut]:
        cost = sum(tokens.count_message(rows.message(each), engine.count) for each in turn)
        if waiting and used + cost > most and _ends(waiting, turn):
            yield _piece(tx, talk.scope, waiting)
            waiting, used = [], 0
        waiting += turn
        used += cost
    if waiting:
        yield _piece(tx, talk.scope, waiting)


def _turns(found: Sequence[Row]) -> list[list[Row]]:
    """Messages as turns, calls with their results; system messages in front belong to the first turn."""
    messages = [rows.message(each) for each in found]
    by_message = {id(message): each for message, each in zip(messages, found, strict=True)}
    lead = next((n for n, message in enumerate(messages) if message.role != "system"), len(messages))
    grouped = [[by_message[id(message)] for message in turn] for turn in window.turns(messages)]
    if lead and grouped:
        grouped[0] = [*found[:lead], *grouped[0]]
    return grouped


def _cut(turns: Sequence[Sequence[Row]], keep_turns: int, keep_tokens: int | None, engine: Engine) -> int:
    """How many of the oldest turns are folded: positions before the cut all lie below those after it."""
    kept, used = 0, 0
    for turn in reversed(turns):
        if keep_tokens is not None:
            used += sum(tokens.count_message(rows.message(each), engine.count) for each in turn)
        if kept >= keep_turns or (kept and keep_tokens is not None and used > keep_tokens):
            break
        kept += 1
    cut = len(turns) - kept
    # A result that came late belongs to a turn before its neighbours': the cut goes round it.
    while 0 < cut < len(turns) and not _ends([each for turn in turns[:cut] for each in turn], turns[cut]):
        cut -= 1
    return cut


def _ends(before: Sequence[Row], turn: Sequence[Row]) -> bool:
    return max(int(each[8]) for each in before) < min(int(each[8]) for each in turn)


def _piece(tx: Transaction, scope: int, found: Sequence[Row]) -> _Piece:
    ordered = tuple(sorted(found, key=lambda each: int(each[8])))
    return _Piece(ordered, tuple(tellable(tx, scope, ordered)))


def tellable(tx: Transaction, scope: int, found: Sequence[Row]) -> list[Message]:
    """Messages without the sentences of which somebody erased what was read from them."""
    messages = [rows.message(each) for each in found]
    if not tx.rows("any_tombstone", {"scope": scope}):
        return messages
    told = []
    for each, message in zip(found, messages, strict=True):
        left = tombstones.still_said(tx, scope, each[7], message.text)
        told.append(message if left == message.text else message.model_copy(update={"content": left, "payload": None}))
    return told


def _unchanged(session: Talker, tx: Transaction, previous: str, reaches: int, piece: _Piece) -> bool:
    """Whether the summary and the messages of a piece are what they were when it was read."""
    talk = _talk(session, tx, piece.rows[-1][8])
    if talk is None or (talk.previous, talk.reaches, talk.rows) != (previous, reaches, piece.rows):
        return False
    return tellable(tx, talk.scope, talk.rows) == [*piece.messages]


def _condensed(engine: Engine, previous: str, piece: _Piece) -> Steps[str | None]:
    """The summary carried on with a piece; None where the model failed, then nothing changes."""
    settings = engine.settings.summary
    tongue = language("", piece.messages)
    if not asks_llm(engine):
        return summary.extract(previous, piece.messages, tongue, settings)
    asked = summary.prompt(
        previous, piece.messages, tongue,
        target_chars=settings.target_chars, max_tokens=settings.batch_tokens, count=engine.count,
    )  # fmt: skip
    answer = yield from ask(engine, asked, "the summary stays as it was, and is tried again")
    text = "" if answer is None else summary.read(answer, tongue)
    if answer is not None and is_blank(text):
        _LOG.warning("the LLM gave a blank summary; the one before stays, and it is tried again")
    return summary.fitted(text, settings.max_chars) if not is_blank(text) else None


def ask(engine: Engine, prompt: str, otherwise: str) -> Steps[str | None]:
    """A model's answer, redacted; None, with a warning, where it fails."""
    try:
        answer = yield from engine.ask(prompt)
        return engine.intake.text(str(answer or ""), blank=True)
    except Exception:  # noqa: BLE001  a model that is down may be up tomorrow
        _LOG.warning("the LLM failed; %s", otherwise, exc_info=True)
        return None


def stored(session: Talker) -> str:
    """The running summary as it stands."""
    with session._scope._live().store.read() as tx:
        row = session._row(tx)
        return summary.stored(tx, None if row is None else row[1])


# ---------------------------------------------------------------------- the window over it


def windowed(session: Talker, max_tokens: int, max_turns: int | None) -> Steps[list[Message]]:
    """The system messages, one summary, and all messages after it; folded first where that is too much."""
    engine = session._scope._live()
    view, left_out = _view(session, engine, max_tokens, max_turns)
    if left_out and max_turns != 0:
        turns = engine.settings.summary.keep_turns
        with suppress(StoreError):  # not writable now: what does not fit is left out, and nothing is lost
            yield from fold(
                session,
                keep_turns=turns if max_turns is None else min(turns, max_turns),
                keep_tokens=_room(max_tokens, engine.settings.summary.share),
            )
        view, _ = _view(session, engine, max_tokens, max_turns)
    return view


def _view(session: Talker, engine: Engine, max_tokens: int, max_turns: int | None) -> tuple[list[Message], bool]:
    """The window as things stand, and whether turns that no summary covers did not fit."""
    with engine.store.read() as tx:
        row = session._row(tx)
        if row is None:
            return [], False
        text, reaches, _ = tx.rows("session_digest", {"session": row[1]})[0]
        head = [rows.message(each) for each in tx.rows("session_head", {"session": row[1]})] if reaches else []
        rest = [rows.message(each) for each in tx.rows("messages_after", {"session": row[1], "position": reaches})]
    if text and reaches:
        tongue = language("", rest or [Message(role="user", content=text)])
        frame = tokens.count_message(summary.shown("", tongue), engine.count)
        room = int(max_tokens * engine.settings.summary.share) - frame
        head += [summary.shown(summary.within(text, room, engine.count), tongue)] if room >= window.SHORTEST else []
    chosen = window.sliding(head + rest, max_turns=max_turns, max_tokens=max_tokens, count=engine.count)
    return chosen, _asking(chosen) < _asking(rest)


def _asking(messages: Sequence[Message]) -> int:
    return sum(message.role == "user" for message in messages)
