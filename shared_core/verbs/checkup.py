"""`check`: does all that is kept agree? What can be rebuilt is rebuilt with `fix`, the rest is named.

It raises nothing on a damaged file: what can't be read is a problem like any other. SQLite has no
checksums of its pages, so a letter that flipped in a plain file is found here, by the words that were
cut from the text when it was written; in an encrypted file every page has a keyed hash.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from pydantic import ValidationError

from shared_core.errors import StoreDamaged, StoreError, TwinmemError, WrongKey
from shared_core.moving import places
from shared_core.ports import Transaction
from shared_core.steps import Steps
from shared_core.store import checking
from shared_core.store.rows import Draft, draft, load, record
from shared_core.values import CheckReport, Problem, Record
from shared_core.writing.intake import cut, digest, embedded_text

if TYPE_CHECKING:
    from shared_core.engine import Engine

_UNREADABLE = "what can't be read"
_NORM = 0.05  # by how much the length of a stored vector may differ from one: float16, and rounding


@dataclass
class _Found:
    """What one look through the database gave."""

    records: int = 0
    vectors: int = 0
    problems: list[Problem] = field(default_factory=list)
    orphans: list[int] = field(default_factory=list)
    wrong: list[int] = field(default_factory=list)
    wordless: list[int] = field(default_factory=list)
    links: list[tuple[Any, ...]] = field(default_factory=list)
    missing: dict[int, Draft] = field(default_factory=dict)
    reindex: bool = False

    def add(self, what: str, rows: Iterable[Any], *, fixable: bool) -> None:
        self.problems += [Problem(what=what, where=f"row {row}", fixable=fixable) for row in rows]


def check(engine: Engine, fix: bool) -> Steps[CheckReport]:
    """Look at everything; with `fix`, rebuild what can be, and look again at what the database engine says."""
    found = _looked(engine)
    fixed = 0
    if fix and any(problem.fixable for problem in found.problems):
        try:
            yield from _mended(engine, found)
            fixed = sum(problem.fixable for problem in found.problems)
        except StoreError as error:
            found.problems.append(Problem(what=f"nothing could be mended: {error}", where="file", fixable=False))
    return CheckReport(
        records=found.records, vectors=found.vectors, problems=tuple(found.problems), fixed=fixed
    )  # fmt: skip


def _looked(engine: Engine) -> _Found:
    found = _Found()
    _guarded(found, "file", lambda: _file(engine, found))
    for part in (_counts, _vectors, _texts, _words, _rows, _links, _archives):
        _guarded(found, part.__name__.strip("_"), lambda part=part: _part(engine, found, part))  # type: ignore[misc]
    return found


def _part(engine: Engine, found: _Found, part: Callable[[Engine, Transaction, _Found], None]) -> None:
    with engine.store.read() as tx:
        part(engine, tx, found)


def _guarded(found: _Found, where: str, look: Callable[[], None]) -> None:
    """Look at a part; where the file is damaged under it, that is what was found."""
    try:
        look()
    except (StoreDamaged, WrongKey) as error:
        problem = Problem(what=f"{_UNREADABLE}: {error}", where=where, fixable=False)
        if problem not in found.problems:
            found.problems.append(problem)


def _file(engine: Engine, found: _Found) -> None:
    lines = engine.store.check()
    unsure: list[Any] = []
    if any(_of_index(line) for line in lines):
        with engine.store.read() as tx:
            unsure = checking.whose(tx)
    found.reindex = any(map(_of_index, lines)) and all(map(_of_index, lines)) and not unsure
    found.problems += [Problem(what=line, where="file", fixable=found.reindex) for line in lines]
    found.add("a record of which the index says that it is somebody else's", (row[0] for row in unsure), fixable=False)


def _of_index(line: str) -> bool:
    return " index " in line or line.startswith("non-unique entry in index")


def _counts(engine: Engine, tx: Transaction, found: _Found) -> None:
    number = engine.embedder(tx)
    found.records = tx.rows("count_records")[0][0]
    found.vectors = tx.rows("count_vectors", {"embedder": number})[0][0] if number is not None else 0


def _vectors(engine: Engine, tx: Transaction, found: _Found) -> None:
    found.orphans = [row[0] for row in tx.rows("orphan_vectors")]
    found.wrong = [row[0] for row in tx.rows("vector_lengths")]
    wrong = set(found.wrong)
    known = {number: size for number, _, size in tx.rows("embedders")}
    skewed = [
        id for id, pieces in tx.each("all_vectors") if id not in wrong and not _is_unit(pieces, known.get(id & 255, 1))
    ]
    found.add("a vector without a record", found.orphans, fixable=True)
    found.add("a vector of a wrong length", [*found.wrong, *skewed], fixable=True)
    found.wrong += skewed


def _is_unit(pieces: bytes, size: int) -> bool:
    if not isinstance(pieces, bytes) or not pieces or len(pieces) % (2 * size):
        return False
    rows = np.frombuffer(pieces, dtype="<f2").reshape(-1, size).astype(np.float32)
    if not np.isfinite(rows).all():
        return False
    norms = np.linalg.norm(rows, axis=1)
    return bool(((np.abs(norms - 1.0) < _NORM) | (norms == 0.0)).all())


def _texts(engine: Engine, tx: Transaction, found: _Found) -> None:
    number = engine.embedder(tx)
    for row in tx.rows("unembedded", {"embedder": -1 if number is None else number, "after": 0, "limit": -1}):
        item = _draft(tx, row[0])
        if item is not None and embedded_text(item):
            found.missing[row[0]] = item
    found.add("a text without a vector", found.missing, fixable=True)


def _draft(tx: Transaction, seq: int) -> Draft | None:
    """A row to look at; None where it says nothing that could be a text, or an index leads to no row."""
    rows = tx.rows("raw_record", {"seq": seq})
    return draft(rows[0]) if rows and isinstance(rows[0][4], str) and isinstance(rows[0][2], str) else None


def _words(engine: Engine, tx: Transaction, found: _Found) -> None:
    found.wordless = [row[0] for row in tx.rows("wordless")]
    found.add("a record without words", found.wordless, fixable=True)
    without = set(found.wordless)
    for row in tx.rows("texts"):
        if row[0] in without:
            continue
        item = _draft(tx, row[0])
        if item is None:
            continue
        stored = (item.words, item.shape)
        cut(item)
        proven = item.digest is not None and item.digest == digest(item.kind, item.text, item.event_time)
        if (item.words, item.shape) == stored and (proven or item.digest is None):
            continue
        found.add("a text that is not the one its words were cut from", [row[0]], fixable=proven)
        if proven:  # the text is what it was: its words are not
            found.wordless.append(row[0])


def _rows(engine: Engine, tx: Transaction, found: _Found) -> None:
    """Whether every record can be read at all."""
    for row in tx.rows("every_seq"):
        try:
            for each in tx.rows("records_by_seq", {"seqs": f"[{row[0]}]"}):
                Record.model_validate(record(each).model_dump())
            for each in tx.rows("raw_record", {"seq": row[0]}):
                load(draft(each).body)
        except (TwinmemError, ValidationError) as error:
            found.add(f"a row that can't be read ({str(error).splitlines()[0]})", [row[0]], fixable=False)


def _links(engine: Engine, tx: Transaction, found: _Found) -> None:
    found.add("a record without a scope or session", (row[0] for row in tx.rows("homeless")), fixable=False)
    found.add("a turn of somebody else's conversation", (row[0] for row in tx.rows("strayed")), fixable=False)
    found.links = tx.rows("orphan_links")
    found.add("a link to nothing", found.links, fixable=True)
    found.problems += checking.problems(tx)


def _archives(engine: Engine, tx: Transaction, found: _Found) -> None:
    """Whether the files of the archive are there, and are what was written."""
    from shared_core.long_term import cold_files

    for id, _, stored, manifest, *_ in tx.rows("every_archive"):
        about = load(manifest)
        try:
            places.verify(cold_files.place(engine, stored), about.get("checksum", ""), about.get("bytes", -1))
        except StoreError as error:
            found.problems.append(Problem(what=f"an archive: {error}", where=f"archive {id}", fixable=False))


def _mended(engine: Engine, found: _Found) -> Iterator[Any]:
    if found.reindex:
        engine.store.reindex()  # type: ignore[attr-defined]
    with engine.store.look() as tx:
        for key in found.wrong:
            raw = tx.rows("raw_record", {"seq": key >> 8})
            if raw and embedded_text(draft(raw[0])):
                found.missing[key >> 8] = draft(raw[0])
    packed = yield from engine.model.packed([embedded_text(item) for item in found.missing.values()])
    with engine.store.write() as tx:
        tx.many("delete_vector", [(key,) for key in [*found.orphans, *found.wrong]])
        tx.many("delete_link", found.links)
        engine.recut(tx, found.wordless)
        number = engine.claim_embedder(tx)
        for seq, vector in zip(found.missing, packed, strict=True):
            if vector is not None and number is not None and tx.rows("raw_record", {"seq": seq}):
                tx.run("insert_vector", (seq << 8 | number, vector))
        checking.mend(tx, engine.now())
        tx.run("mark_all_changed")
    engine.indexes.drop()
    engine.graphs.drop()
