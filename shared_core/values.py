"""The values that cross the public edge: frozen, validated once, safe to print and to share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Any, NamedTuple

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from shared_core.errors import InvalidInput, InvalidType


class Kind(StrEnum):
    """What a record is."""

    TURN = "turn"  # one message of a conversation, keyed by session and message id
    FACT = "fact"  # something true of a person or a thing
    SUMMARY = "summary"  # a conversation, shortened
    EVENT = "event"  # something that happened at a time
    RULE = "rule"  # if this, then that
    ITEM = "item"  # a value of a LangGraph store; its text is optional


class Status(StrEnum):
    """Whether a record is part of what is remembered now."""

    ACTIVE = "active"
    SUPERSEDED = "superseded"  # replaced by a newer version; kept, linked, found by `as_of`
    ARCHIVED = "archived"  # moved to cold storage; its text lives there
    WAITING = "waiting"  # contradicts another fact, and waits for the user's answer; not remembered until then


class Triple(NamedTuple):
    """A statement as subject, predicate and object: ("alice", "lives in", "Lyon")."""

    subject: str
    predicate: str
    object: str


class _Value(BaseModel):
    model_config = ConfigDict(frozen=True, arbitrary_types_allowed=True, defer_build=True)

    def _repr_html_(self) -> str:
        from shared_core.notebook import shown

        return shown(self)


class Record(_Value):
    """One memory.

    `importance` and `confidence` lie in [0, 1]. All times are aware UTC: `created_at` when it was
    stored, `event_time` when it happened (if known), `valid_from`/`valid_until` while it was true,
    `expires_at` its hard end, `confirmed_at` when somebody last said that it still holds. `stale`: its
    type has a time to live, which has passed. `seen` counts how often the same fact was told, `accesses` how
    often it was recalled.
    """

    id: str
    kind: Kind
    text: str
    type: str | None = None
    triple: Triple | None = None
    polarity: bool = True
    entities: tuple[str, ...] = ()
    source: str = "user"
    importance: float = 0.5
    confidence: float = 1.0
    metadata: dict[str, Any] = Field(default_factory=dict)
    event_time: datetime | None = None
    expires_at: datetime | None = None
    pinned: bool = False
    session: str | None = None
    message_id: str | None = None
    role: str | None = None
    name: str | None = None
    status: Status = Status.ACTIVE
    seen: int = 1
    accesses: int = 0
    accessed_at: datetime | None = None
    supersedes: str | None = None
    superseded_by: str | None = None
    valid_from: datetime | None = None
    valid_until: datetime | None = None
    confirmed_at: datetime | None = None
    stale: bool = False
    created_at: datetime
    updated_at: datetime

    @property
    def expires_in(self) -> timedelta | None:
        """The time to live it was given, counted from its last update."""
        return None if self.expires_at is None else self.expires_at - self.updated_at

    @property
    def updated_on(self) -> datetime | None:
        """Since when it stands in the place of an earlier version; None where it replaced nothing."""
        return None if self.supersedes is None else self.valid_from or self.created_at


class Source(NamedTuple):
    """What a record was read from: a record, of a turn its message and session, and by which extractor."""

    record: str
    message_id: str | None
    session: str | None
    extractor: str


class Hit(_Value):
    """A recalled record.

    `score` in [0, 1], higher is better: the record's own likeness to the question. `parts`,
    `reason` and `sources` are filled by `search(..., explain=True)`.
    """

    record: Record
    score: float
    parts: dict[str, float] = Field(default_factory=dict)
    reason: str = ""
    sources: tuple[Source, ...] = ()


class ToolCall(_Value):
    """A request of the assistant to run a tool."""

    id: str | None = None
    name: str = ""
    args: Any = None

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class Message(_Value):
    """One message of a conversation, in the form every chat model API shares.

    `content` is a string, None, or a list of content parts (dicts with a `type`). `payload` is
    the framework's own dict, kept whole beside this neutral form, under the framework's name.
    """

    role: str
    content: Any = None
    id: str | None = None
    name: str | None = None
    created_at: datetime | None = None
    tool_calls: tuple[dict[str, Any], ...] = ()
    tool_call_id: str | None = None
    payload: dict[str, Any] | None = Field(default=None, repr=False)

    @property
    def text(self) -> str:
        """The text parts of the content, joined by a space."""
        return content_text(self.content)


class ToolUse(_Value):
    """A call of a tool with what came of it; `output` is None while there is no result."""

    id: str | None = None
    name: str
    args: Any = None
    output: str | None = None
    error: str | None = None
    at: datetime | None = None
    message_id: str | None = None

    @property
    def success(self) -> bool:
        """Whether it has a result, and that is no error."""
        return self.output is not None and self.error is None


class Candidate(_Value):
    """Something a phrase may mean.

    `kind` is file, url, folder, email, id, error, tool, item (of a list) or entity; `text` the path,
    address, name or message; `tags` what it is told to be. `message_id` and `role` are those of its
    newest mention, `use` the tool call it is, or comes from. `score` lies in [0, 1].
    """

    kind: str
    text: str
    score: float
    why: str
    tags: tuple[str, ...] = ()
    message_id: str | None = None
    role: str = ""
    use: ToolUse | None = None


class Reference(_Value):
    """What a phrase refers to: the choice, all candidates (the best first) with scores, and why.

    `chosen` is None where nothing of the kind was mentioned. `ambiguous`: another candidate is
    nearly as good, and asking is better than guessing where a mistake costs something.
    """

    phrase: str
    kind: str | None
    chosen: Candidate | None
    candidates: tuple[Candidate, ...] = ()
    why: str = ""
    ambiguous: bool = False

    @property
    def text(self) -> str | None:
        """The path, address, name or message that is meant."""
        return None if self.chosen is None else self.chosen.text


class Section(_Value):
    """One part of a context under its heading; `records` are the ids of the records it tells of."""

    name: str
    heading: str
    text: str
    tokens: int
    records: tuple[str, ...] = ()


class Omitted(NamedTuple):
    """What was considered for a context and left out.

    `id` is the record's ("" where it is none), `section` where it would have stood. `reason` is
    "budget" (no room, or others were worth more for their tokens), "duplicate" (said already by
    another part) or "window" (in the conversation that the prompt shows).
    """

    id: str
    section: str
    reason: str


class Context(_Value):
    """What goes into the prompt: `text` whole, or `messages` (recent talk) and the rest apart.

    `hits` are the memories that are in it, best first, `omitted` those that were considered and left
    out. Handed to `Session.add_messages` as `trace` it records which memories a reply had.
    """

    text: str
    messages: tuple[Message, ...] = ()
    hits: tuple[Hit, ...] = ()
    sections: tuple[Section, ...] = ()
    tokens: int = 0
    omitted: tuple[Omitted, ...] = ()

    @property
    def trace(self) -> list[list[Any]]:
        """Which memories are in it, as plain JSON: a section, a record id and a score for each, in their order.

        The recent talk is no memory and not among them.
        """
        scores = {hit.record.id: hit.score for hit in self.hits}
        return [
            [section.name, id, scores.get(id, 0.0)]
            for section in self.sections if section.name != "recent" for id in section.records
        ]  # fmt: skip


class Receipt(_Value):
    """Proof of an erasure: how many records went, with what belonged to them, when, and of whom.

    `tombstones` are the keyed hashes that stay in the place of the records, in hexadecimal; they say
    nothing of what was erased to anybody without the database. `pending`: the rows are gone, but bytes
    of them may still be in free parts of the file, until `purge()` or `close()` has rewritten it.
    `AgentMemory.verify(receipt)` looks whether all of it holds.
    """

    count: int
    ids: tuple[str, ...] = ()
    erased: dict[str, int] = Field(default_factory=dict)
    at: datetime
    pending: bool = False
    user: str = ""
    agents: tuple[str, ...] = ()
    tombstones: tuple[str, ...] = Field(default=(), repr=False)


class Question(_Value):
    """Two facts that can't both be true: what to ask the user, and what may be answered.

    `choices` are the new fact, the old one, and both; `scope.answer(question, choice)` takes one of
    them, its place in the list, or "new", "old" or "both". `new` and `old` are the records' ids.
    """

    id: str
    text: str
    choices: tuple[str, ...]
    new: str
    old: str
    created_at: datetime


class Change(_Value):
    """One entry of a record's history: what was done, when, and (unless erased) what changed."""

    action: str
    at: datetime
    detail: dict[str, Any] = Field(default_factory=dict)


class Problem(_Value):
    """Something `check` found: what, where, and whether `check(fix=True)` mends it."""

    what: str
    where: str
    fixable: bool


class Verified(_Value):
    """Whether an erasure holds: what is still there of it, if anything, and whether bytes may be left (`pending`)."""

    records: int
    problems: tuple[Problem, ...] = ()
    pending: bool = False

    @property
    def ok(self) -> bool:
        """True when nothing is left, in no row and in no free part of a file."""
        return not self.problems and not self.pending


class CheckReport(_Value):
    """The result of `check`: no problems means that rows, vectors and words agree."""

    records: int
    vectors: int
    problems: tuple[Problem, ...] = ()
    fixed: int = 0

    @property
    def ok(self) -> bool:
        """True when nothing was found, or all that was found has been mended."""
        return len(self.problems) == self.fixed


class Merge(_Value):
    """A fact that stands for others that said the same: its id, and theirs."""

    kept: str
    merged: tuple[str, ...]


class Fold(_Value):
    """A summary of what is known of one subject: its record's id, and those of the facts in it."""

    subject: str
    record: str
    facts: tuple[str, ...]


class ConsolidationReport(_Value):
    """What `consolidate` did: facts looked at, turns that became memories, what was merged and folded.

    `stopped`: it was told to stop; what was done is done, and the next call goes on from there.
    """

    examined: int = 0
    remembered: tuple[str, ...] = ()
    merges: tuple[Merge, ...] = ()
    folds: tuple[Fold, ...] = ()
    stopped: bool = False


class Faded(_Value):
    """A memory that `cleanup` lets go: which, why, and where to.

    `reason` is "expired", "low confidence" or "faded"; `worth` what is left of its importance,
    `age` and `idle` are days since it happened (or was stored) and since it was last recalled; `to`
    is "archive" or "delete".
    """

    id: str
    kind: Kind
    text: str
    reason: str
    worth: float
    importance: float
    confidence: float
    age: float
    idle: float
    to: str


class PrivateData(_Value):
    """A record that holds private data: how much of which kind, and nothing of it (E1)."""

    id: str
    kind: Kind
    kinds: dict[str, int]
    session: str | None = None
    message_id: str | None = None


class CleanupReport(_Value):
    """What `cleanup` let go, or, of a dry run, what it would: `gone` one by one, of `examined` memories.

    `archives` holds the ids of the archives that were written; `stopped`: it was told to stop before the end.
    """

    dry_run: bool
    examined: int = 0
    gone: tuple[Faded, ...] = ()
    pinned: int = 0
    archives: tuple[str, ...] = ()
    stopped: bool = False

    @property
    def archived(self) -> int:
        """How many go into an archive."""
        return sum(each.to == "archive" for each in self.gone)

    @property
    def deleted(self) -> int:
        """How many are deleted."""
        return sum(each.to == "delete" for each in self.gone)


class FailedWrite(_Value):
    """A queued write that was not made: whose, by which verb, the ids it was promised, its texts, and why.

    `error` is empty for one that only waits behind another.
    """

    user: str
    agent: str
    session: str | None
    verb: str
    ids: tuple[str, ...]
    texts: tuple[str, ...] = Field(repr=False)
    error: str


class HotScope(_Value):
    """A scope that is in memory: the bytes of its index, the relations of its graph, and how often it was asked for."""

    user: str
    agent: str
    bytes: int = 0
    relations: int = 0
    uses: int = 0


class MemoryStats(_Value):
    """What of a database is in memory: the scopes in use, hottest first, and the writes that wait in the background.

    `bytes` of indexes under `limit` (`settings.cache.bytes`); `evicted` scopes have left memory
    since the database was opened, and are loaded again when asked for.
    """

    scopes: tuple[HotScope, ...] = ()
    bytes: int = 0
    limit: int = 0
    evicted: int = 0
    queued: int = 0


class Stats(_Value):
    """How much a scope holds.

    `messages` and their `tokens` are the short term, `long_term` counts all other records,
    `interactions` what users said to the agent.
    """

    records: int
    by_kind: dict[str, int]
    sessions: int
    messages: int
    tokens: int
    long_term: int
    interactions: int = 0


_TEXTS = ("text", "input_text", "output_text")


def content_text(content: Any) -> str:
    """The text of a message's content: a string, a list of parts, or nothing.

    >>> content_text([{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {}}])
    'look'
    """
    if content is None:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, Mapping):
        content = [content]
    parts: list[str] = []
    for part in content if isinstance(content, Sequence) else ():
        if isinstance(part, str):
            parts.append(part)
        elif isinstance(part, Mapping) and isinstance(part.get("text"), str) and part.get("type", "text") in _TEXTS:
            parts.append(part["text"])
    return " ".join(p for p in parts if p)


_MESSAGE_KEYS = frozenset(Message.model_fields)
_ROLES = {"human": "user", "ai": "assistant", "function": "tool", "developer": "system", "model": "assistant"}


def as_message(value: Message | Mapping[str, Any]) -> Message:
    """A `Message` out of a `Message` or a dict with `role`, `content` and the other known keys.

    Roles other frameworks use ("human", "ai") become the common ones; a tool call may come flat
    (`id`, `name`, `args`) or as OpenAI nests it (`function.arguments` as a JSON string).

    Raises `InvalidType` for another type, `InvalidInput` for a missing role, an unknown key or a
    naive `created_at`.

    >>> as_message({"role": "human", "content": "hi"}).role
    'user'
    """
    if isinstance(value, Message):
        return value
    if not isinstance(value, Mapping):
        raise InvalidType(f"a message is a Message or a dict with role and content, not {type(value).__name__}")
    unknown = set(value) - _MESSAGE_KEYS
    if unknown:
        raise InvalidInput(f"unknown message keys {sorted(map(str, unknown))}; known: {sorted(_MESSAGE_KEYS)}")
    role = value.get("role")
    if not isinstance(role, str) or not role.strip():
        raise InvalidInput("a message needs a role: user, assistant, system or tool")
    fields = dict(value, role=_ROLES.get(role, role))
    content = fields.get("content")
    if not isinstance(content, str | list | tuple | Mapping | None):
        raise InvalidType(f"message content is text or a list of parts, not {type(content).__name__}")
    for key in ("id", "name", "tool_call_id"):
        if fields.get(key) is not None and not isinstance(fields[key], str):
            raise InvalidType(f"message {key} is a string, not {type(fields[key]).__name__}")
    if fields.get("created_at") is not None:
        fields["created_at"] = aware(fields["created_at"], "created_at")
    calls = fields.get("tool_calls") or ()
    if not isinstance(calls, list | tuple):
        raise InvalidType(f"tool_calls is a list of calls, not {type(calls).__name__}")
    fields["tool_calls"] = tuple(_tool_call(call) for call in calls)
    try:
        return Message(**fields)
    except ValidationError as error:
        wrong = error.errors(include_url=False)[0]
        raise InvalidInput(f"message {'.'.join(map(str, wrong['loc']))}: {wrong['msg']}") from error


def _tool_call(value: Any) -> dict[str, Any]:
    if not isinstance(value, Mapping):
        raise InvalidType(f"a tool call is a dict with id, name and args, not {type(value).__name__}")
    function = value.get("function")
    if isinstance(function, Mapping):
        arguments = function.get("arguments")
        if isinstance(arguments, str):
            arguments = _json_or_text(arguments)
        return {"id": value.get("id"), "name": function.get("name", ""), "args": arguments}
    return {"id": value.get("id"), "name": value.get("name", ""), "args": value.get("args")}


def _json_or_text(text: str) -> Any:
    import json

    try:
        return json.loads(text)
    except ValueError:
        return text
    except RecursionError as error:
        raise InvalidInput("the arguments of a tool call are nested too deeply") from error


def aware(value: Any, what: str) -> datetime:
    """`value` as aware UTC; a naive datetime is refused, an ISO string with an offset is read."""
    from datetime import UTC

    if isinstance(value, str):
        try:
            value = datetime.fromisoformat(value)
        except ValueError as error:
            raise InvalidInput(f"{what} is not an ISO 8601 time: {value!r}") from error
    if not isinstance(value, datetime):
        raise InvalidType(f"{what} is a timezone-aware datetime, not {type(value).__name__}")
    if value.tzinfo is None or value.utcoffset() is None:
        raise InvalidInput(f"{what} has no timezone; use datetime.now(timezone.utc) or .astimezone()")
    return value.astimezone(UTC)
