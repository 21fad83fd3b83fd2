"""Records in cold storage, as the database knows them: the same cascade erases them, without a look into any file.

A record in an archive has a row in `cold` with the hashes its tombstones will be, and its provenance
lies in `cold_link`. To erase one is to take these rows away: a line of a file counts only while its
record has a row, and a file that holds other lines is `stale`, to be written anew.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from shared_core.long_term.graph import forgetting
from shared_core.ports import Transaction
from shared_core.store.rows import dump, load

_HASH = 32  # bytes


def holds(tx: Transaction, scope: int) -> bool:
    """Whether anything of a scope lies in an archive, or is on its way there."""
    return bool(tx.rows("any_cold", {"scope": scope}))


def lies(tx: Transaction, scope: int, record: str) -> bool:
    """Whether a record lies in an archive."""
    return bool(tx.rows("cold_record", (scope, record)))


def closure(tx: Transaction, scope: int, seqs: Sequence[int], ids: Iterable[str], *, derived: bool) -> list[str]:
    """The ids of these records and, with `derived`, of all that came only from them, live or in an archive."""
    gone = dict.fromkeys([*(row[0] for row in tx.rows("ids_of", {"seqs": str(list(seqs))})), *ids])
    edge = list(gone) if derived else []
    while edge:
        touched = dict.fromkeys(row[0] for id in edge for row in tx.rows("read_from", (scope, id)))
        edge = [
            id
            for id in touched
            if id not in gone and all(row[0] in gone for row in tx.rows("all_sources", (scope, id)))
        ]
        gone.update(dict.fromkeys(edge))
    return list(gone)


def erase(tx: Transaction, scope: int, ids: Iterable[str], now: int, revision: int) -> list[str]:
    """Erase what lies in archives of these records; their ids. The files are mended after the transaction."""
    tx.run("abandon_archives", {"scope": scope})  # what is being written may hold them too
    erased = []
    for id in ids:
        found = tx.rows("cold_record", (scope, id))
        for archive, hashes, told, _ in found:
            _bury(tx, scope, hashes, now)
            _untell(tx, scope, told, revision)
            tx.run("set_archive_state", {"id": archive, "state": "stale"})
        if found:
            tx.run("drop_cold", (scope, id))
            erased.append(id)
        tx.run("drop_cold_links", (scope, id))
    return erased


def erase_scope(tx: Transaction, scope: int, now: int) -> dict[str, int]:
    """Erase all archives of a scope; how many they were, and how many records in them."""
    hashes = tx.rows("cold_hashes", {"scope": scope})
    for row in hashes:
        _bury(tx, scope, row[0], now)
    for statement in ("clear_scope_cold", "clear_scope_cold_links"):
        tx.run(statement, {"scope": scope})
    return {"archives": max(tx.run("clear_scope_archive", {"scope": scope}), 0), "archived records": len(hashes)}


def _bury(tx: Transaction, scope: int, hashes: bytes, now: int) -> None:
    for start in range(0, len(hashes), _HASH):
        tx.run("add_tombstone", (scope, hashes[start : start + _HASH], now))


# ---------------------------------------------------------------------- the graph of turns that went


def detach(tx: Transaction, scope: int, seqs: Sequence[int], revision: int) -> dict[int, str]:
    """Keep what these records told the graph as told directly; by seq, what is to go if one is erased later on."""
    given = {"scope": scope, "seqs": str(list(seqs))}
    relations, aliases = tx.rows("relations_of_records", given), tx.rows("aliases_of_records", given)
    traits = [row for row in tx.rows("traits_of_records", given) if not tx.rows("find_trait", (row[0], 0))]
    aliases = [row for row in aliases if not tx.rows("alias_told", (*row[:2], 0))]
    forgetting.detach(tx, scope, seqs, revision)
    ids = dump([row[0] for row in relations])
    direct = {row[0] for row in tx.rows("directly_told", {"ids": ids, "scope": scope})}
    told: dict[int, dict[str, list[list[int]]]] = {}
    for kind, found in (
        ("relations", [(row[4], [row[0]]) for row in relations if row[0] in direct]),
        ("aliases", [(row[2], [*row[:2]]) for row in aliases]),
        ("traits", [(row[1], [row[0]]) for row in traits]),
    ):
        for seq, key in found:
            told.setdefault(seq, {}).setdefault(kind, []).append(key)
    return {seq: dump(kinds) for seq, kinds in told.items()}


def _untell(tx: Transaction, scope: int, told: str | None, revision: int) -> None:
    if told is None:
        return
    kinds = load(told)
    ids = dump([key[0] for key in kinds.get("relations", ())])
    rows = tx.rows("directly_told", {"ids": ids, "scope": scope})
    forgetting.of_relations(
        tx, scope, rows, revision, aliases=[(key[0], key[1], 0) for key in kinds.get("aliases", ())],
        traits=[(key[0], 0) for key in kinds.get("traits", ())],
    )  # fmt: skip
