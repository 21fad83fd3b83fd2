"""`Profile`: what is known of the user as a person, in a few lines, to be seen and edited (B9).

It is computed from facts whenever it is asked for, so it can't contradict them or outlive them.
Only what a user changes by hand is kept: a line of their own, or that a line is to stay out.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Final

from shared_core.errors import InvalidInput, NotFound
from shared_core.ports import Transaction
from shared_core.recall.text import is_blank
from shared_core.recall.where import Where, matches
from shared_core.steps import Steps, both, threaded
from shared_core.store import cascade, ledger, rows
from shared_core.store.rows import instant
from shared_core.values import Receipt, Record
from shared_core.writing import statement
from shared_core.writing.conflict import claim_of

if TYPE_CHECKING:
    from shared_core.scope import Scope

TYPE: Final = "profile"
_PREFIX: Final = "profile/"
_RECENT: Final = 500  # newest records among which the user's name is looked for
_SPARE: Final = 4  # times as many facts are looked at as a line shows: some don't fit it, or say the same
_OUT: Final = "profile/out/"  # ids of the marks for lines that stay out


@dataclass(frozen=True, slots=True)
class _Line:
    """A line: its key, its label in both languages, and the predicates whose values stand in it."""

    key: str
    en: str
    zh: str
    predicates: str
    denied: bool = False  # of these predicates, what is not so
    whole: bool = False  # the text of the fact rather than its object
    subject: str = statement.SELF


_FAMILY = (
    "married_to engaged_to wife husband partner girlfriend boyfriend son daughter child mother father sister brother"
    " grandmother grandfather has_family marital_status friend"
)
_FAVOURITES = " ".join(
    f"favourite_{word}"
    for word in (
        "color colour food dish cuisine drink book author movie film show song music band artist singer sport team game"
        " animal season city place restaurant flower subject language number hobby 颜色 食物 菜 饮料 书 作家 电影 歌 歌手 音乐 运动 球队 游戏"
        " 动物 季节 城市 地方 花 科目 数字 水果"
    ).split()
)
_LINES: Final = (
    _Line("name", "Name", "姓名", "name also_called"),
    _Line("style", "How to answer", "回答方式", "should", whole=True, subject="assistant"),
    _Line("avoid", "To avoid", "需要避免", "should", denied=True, whole=True, subject="assistant"),
    _Line("home", "Lives in", "住在", "lives_in"),
    _Line("work", "Work", "工作", "works_as works_at works_in works_on"),
    _Line("health", "Health and diet", "健康与饮食", "allergic_to has_condition diet", whole=True),
    _Line("family", "Family and friends", "家人朋友", _FAMILY, whole=True),
    _Line("likes", "Likes", "喜欢", f"likes prefers {_FAVOURITES}"),
    _Line("dislikes", "Dislikes", "不喜欢", "likes", denied=True),
    _Line("birthday", "Birthday", "生日", "birthday"),
    _Line("age", "Age", "年龄", "age"),
    _Line("background", "Background", "背景", "from born_in nationality studies studies_at graduated_from", whole=True),
    _Line("languages", "Languages", "语言", "speaks"),
    _Line("habits", "Habits", "习惯", "practises plays eats drinks collects volunteers_at member_of"),
    _Line("interests", "Learning", "正在学习", "learns"),
    _Line("tools", "Uses", "使用", "uses"),
    _Line("pets", "Pets", "宠物", "pet"),
)
KEYS: Final = tuple(line.key for line in _LINES)
"""The lines that facts fill; a user may set others besides."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One line of a profile: `edited` if the user wrote it, else `records` holds the ids of its facts."""

    key: str
    label: str
    text: str
    edited: bool = False
    records: tuple[str, ...] = field(default=())

    def __str__(self) -> str:
        return f"{self.label}: {self.text}"

    @property
    def ids(self) -> tuple[str, ...]:
        """The ids of the records it says: its facts, or what the user wrote."""
        return (_PREFIX + self.key,) if self.edited else self.records


Entries = list[Entry]


class Profile:
    """What is known of the user of a scope.

    Made by `Scope.profile`; every verb that reads or writes has an async twin with the prefix `a`.

    >>> from shared_core import AgentMemory
    >>> scope = AgentMemory.open(embedder="hashing").scope(user="ann")
    >>> _ = scope.add("I live in Lyon", triple=("user", "lives in", "Lyon"))
    >>> scope.profile.text()
    'Lives in: Lyon'
    >>> _ = scope.profile.set("home", "Lyon, near the station")
    >>> scope.profile.text()
    'Lives in: Lyon, near the station'
    """

    def __init__(self, scope: Scope) -> None:
        """Use `Scope.profile`."""
        self._scope = scope

    def __repr__(self) -> str:
        return f"Profile(user={self._scope.user!r}, agent={self._scope.agent!r})"

    def __str__(self) -> str:
        return self.text()

    # ------------------------------------------------------------------ reading

    def entries(self, language: str | None = None) -> Entries:
        """The lines there are, the ones that matter most first; labels in "en" or "zh" (default: as most of the facts)."""
        return self._entries(language, ())

    def _entries(self, language: str | None, without: Collection[str]) -> Entries:
        with self._scope._live().store.read() as tx:
            number = self._scope._find(tx)
            return [] if number is None else self._read(tx, number, language, without)

    def _read(
        self, tx: Transaction, scope: int, language: str | None, without: Collection[str], where: Where | None = None
    ) -> Entries:
        """The lines as they are in one state of the rows; `without` what is known from these turns alone."""
        names = [row[0] for row in tx.rows("recent_speakers", {"scope": scope, "limit": _RECENT})]
        edited, out = self._edits(tx, scope)
        turns = ledger.seqs_of(tx, scope, without)
        told = {row[0] for row in tx.rows("derived_only_from", {"seqs": str(turns)})} if turns else set()
        lines = [line for line in _LINES if line.key not in {*edited, *out}]
        facts = self._facts(tx, scope, lines, names, told, where)
        tongue = language or _tongue([r.text for found in facts.values() for r in found] + list(edited.values()))
        made = []
        for line in _LINES:
            if line.key in edited:
                made.append(Entry(line.key, getattr(line, tongue), edited[line.key], edited=True))
            elif facts.get(line.key):
                made.append(self._entry(line, facts[line.key], tongue))
        return made + [Entry(key, key, text, edited=True) for key, text in edited.items() if key not in KEYS]

    def get(self, key: str) -> Entry | None:
        """One line; None where nothing is known, or it was removed."""
        return next((entry for entry in self.entries() if entry.key == key), None)

    def text(self, max_tokens: int | None = None, language: str | None = None) -> str:
        """The profile as lines "Label: text", at most `max_tokens` (`settings.profile.max_tokens`, 200) long."""
        most = self._scope._live().settings.profile.max_tokens if max_tokens is None else max_tokens
        lines = self._within(self._entries(language, ()), most) if most > 0 else []
        return "\n".join(line for _, line in lines)

    def fitting(
        self, tx: Transaction, scope: int, max_tokens: int, language: str, without: Collection[str] = (),
        where: Where | None = None,
    ) -> list[tuple[Entry, str]]:  # fmt: skip
        """The lines that fit, as text, out of an open transaction: for a prompt.

        `without` are ids of turns that stand in the prompt already: what is known from them alone is left out.
        `where` keeps out facts that it does not fit; lines that were written by hand stay.
        """
        return self._within(self._read(tx, scope, language, without, where), max_tokens)

    def _within(self, entries: Entries, max_tokens: int) -> list[tuple[Entry, str]]:
        count = self._scope._live().count
        lines, left = [], max_tokens
        for entry in entries:
            line = " ".join(str(entry).split())
            cost = count(line) + 1
            if cost <= left:  # one that is too long is passed over, and the next tried
                lines.append((entry, line))
                left -= cost
        return lines

    def _facts(
        self, tx: Transaction, scope: int, lines: Iterable[_Line], names: Sequence[str], told: Collection[int],
        where: Where | None = None,
    ) -> dict[str, list[Record]]:  # fmt: skip
        """By line the facts that hold now, the most important first, then the newest."""
        wanted: dict[int, list[_Line]] = {}
        for line in lines:
            for topic in _topics(line, tuple(self._selves(names)) if line.subject == statement.SELF else ()):
                wanted.setdefault(topic, []).append(line)
        most = _SPARE * self._scope._live().settings.profile.values
        given = {"scope": scope, "topics": str([*wanted]), "told": str([*told]), "limit": most}
        topics = {seq: topic for topic, seq in tx.rows("profile_facts", given)}
        now = instant(self._scope._live().now())
        found: dict[str, list[Record]] = {}
        for seq, record in self._scope._records(tx, [*topics]).items():
            if (record.expires_at is not None and record.expires_at <= now) or not matches(where, record):
                continue
            for line in wanted[topics[seq]]:
                if self._fits(record, line):
                    found.setdefault(line.key, []).append(record)
        for records in found.values():
            records.sort(key=lambda r: (-r.importance, -r.created_at.timestamp(), r.id))
        return found

    def _selves(self, names: Iterable[str]) -> list[str]:
        """What the user is called by: a single named speaker of the scope is the user, of two nobody knows who."""
        named = list(names)
        return [statement.subject_key(name) for name in [self._scope.user, *(named if len(named) == 1 else ())]]

    @staticmethod
    def _fits(record: Record, line: _Line) -> bool:
        claim = claim_of(record.text, record.triple, polarity=record.polarity)
        return claim is not None and not claim.over and claim.polarity is not line.denied

    def _entry(self, line: _Line, facts: list[Record], tongue: str) -> Entry:
        values: dict[str, None] = {}
        chosen = []
        for record in facts:
            value = record.text if line.whole or record.triple is None else record.triple.object
            if record.triple is not None and record.triple.predicate.startswith("favourite"):
                value = f"{value} ({record.triple.predicate.replace('_', ' ')})"
            value = " ".join(value.split()) + ("?" if record.stale else "")
            if value not in values:
                values[value] = None
                chosen.append(record.id)
            if len(values) >= self._scope._live().settings.profile.values:
                break
        return Entry(
            line.key, getattr(line, tongue), ("；" if tongue == "zh" else "; ").join(values), False, tuple(chosen)
        )

    @staticmethod
    def _edits(tx: Transaction, scope: int) -> tuple[Mapping[str, str], frozenset[str]]:
        edited: dict[str, str] = {}
        out = set()
        for row in tx.rows("records_between", {"scope": scope, "low": _PREFIX, "high": "profile0"}):
            record = rows.record(row)
            if record.type != TYPE:
                continue
            if record.id.startswith(_OUT):
                out.add(record.id.removeprefix(_OUT))
            else:
                edited[record.id.removeprefix(_PREFIX)] = record.text
        return edited, frozenset(out)

    # ------------------------------------------------------------------ editing

    def _set(self, key: str, text: str) -> Steps[Entry]:
        """Write a line yourself: it stands in the place of what the facts say, until `remove` or `reset`.

        `key` is one of the lines there are (`entries()`), or a new one, which is shown under that name.
        """
        checked = _key(key)
        self._drop(_OUT + checked)
        yield from self._scope._add(text, kind="summary", type=TYPE, id=_PREFIX + checked, pinned=True)
        found = self.get(checked)
        assert found is not None
        return found

    set, aset = both(_set)

    def _remove(self, key: str) -> Steps[None]:
        """Take a line out, and keep it out whatever the facts say; the facts themselves stay.

        Raises `NotFound` where there is no such line.
        """
        checked = _key(key)
        if self.get(checked) is None:
            raise NotFound(f"the profile has no line {key!r}; scope.profile.entries() gives those there are")
        self._drop(_PREFIX + checked)
        if checked in KEYS:
            yield from self._scope._add(None, kind="item", type=TYPE, id=_OUT + checked)

    remove, aremove = both(_remove)

    def reset(self, key: str) -> Receipt:
        """Undo `set` and `remove`: the line says what the facts say."""
        checked = _key(key)
        gone = [self._drop(_PREFIX + checked), self._drop(_OUT + checked)]
        return gone[0].model_copy(
            update={
                "count": sum(r.count for r in gone), "ids": tuple(id for r in gone for id in r.ids),
                "tombstones": tuple(hash for r in gone for hash in r.tombstones), "pending": any(r.pending for r in gone),
            }
        )  # fmt: skip

    def _drop(self, id: str) -> Receipt:
        engine = self._scope._live()
        now = engine.now()
        with engine.store.write() as tx:
            scope = self._scope._find(tx)
            found = [] if scope is None else [row[0] for row in tx.rows("seq_by_id", (scope, id))]
            receipt = cascade.erase(tx, scope or 0, found, now)
        return engine.erased(receipt, self._scope.user, self._scope.agent)

    aentries = threaded(entries)
    aget = threaded(get)
    atext = threaded(text)
    areset = threaded(reset)


@lru_cache(maxsize=1_000)
def _topics(line: _Line, selves: tuple[str, ...]) -> tuple[int, ...]:
    """The topics of a line's facts: its predicates, said of the user under each of these names."""
    keys = dict.fromkeys(key for name in line.predicates.split() for key in (name, name.replace("_", " ")))
    return tuple(statement.topic(subject, key) for subject in dict.fromkeys([line.subject, *selves]) for key in keys)


def _key(key: str) -> str:
    if not isinstance(key, str) or is_blank(key) or key.startswith("out/"):
        raise InvalidInput(f"a line of the profile is named by a text such as 'likes', not {key!r}")
    return key.strip()


def _tongue(texts: Iterable[str]) -> str:
    """The language of most of these texts."""
    votes = [any("\u4e00" <= c <= "\u9fff" for c in text) for text in texts]
    return "zh" if sum(votes) * 2 > len(votes) else "en"
