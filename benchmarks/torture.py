"""Try to break what is promised, and print what came of it: `make torture` (some minutes), `--short`, `--json FILE`.

Each part raises where a promise is broken; the figures are those of `docs/trust.md`.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

Figures = dict[str, int]
KEY = "correct horse battery staple"


def kills(folder: Path, short: bool) -> Figures:
    """Every verb that writes, killed before its statements and file operations."""
    from tests.store.test_kills import GROUPS

    verbs = [verb for group in GROUPS for verb in group]
    done = subprocess.run(
        [sys.executable, "-m", "tests.store.killing", str(folder), "3" if short else "20", *verbs],
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise AssertionError(done.stderr[-3_000:])
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    total = {name: sum(row[name] for row in rows) for name in ("steps", "kills", "acknowledged", "between")}
    return {"verbs": len(rows), **total, "lost": 0}


def writers(folder: Path, short: bool) -> Figures:
    """Processes that write at random, killed at random moments."""
    from tests.store import test_crash

    rounds = 1 if short else 5
    for n in range(rounds):
        (folder / str(n)).mkdir()
        test_crash.test_r41_a_write_that_was_acknowledged_survives_kill_9_at_any_moment(folder / str(n) / "agent.db")
    return {"killed processes": 6 * rounds, "lost": 0}


def damage(key: str | None) -> Callable[[Path, bool], Figures]:
    """Bits, bytes and pages of a file, changed one at a time."""

    def part(folder: Path, short: bool) -> Figures:
        from tests.store.test_damage import flipped

        total: Figures = {}
        for what in ("bit", "byte", "page"):
            for name, count in flipped(
                folder / f"{what}.db", key, what, 10 if short else 150 if key is None else 60
            ).items():
                total[name] = total.get(name, 0) + count
        return {"files": sum(total.values()), **total, "wrong or foreign memories": 0}

    return part


def erased(key: str | None) -> Callable[[Path, bool], Figures]:
    """Canaries in every part of a memory, taken back, and every byte on the disk looked through."""

    def part(folder: Path, short: bool) -> Figures:
        from tests.core.test_erasing import canaries

        return {**canaries(folder / "agent.db", key, 150 if short else 2_000), "found again": 0}

    return part


def many(folder: Path, short: bool) -> Figures:
    """Four processes of eight threads with mixed verbs on one file, and what they say against what is there."""
    from tests.core import test_load

    path = folder / "agent.db"
    accounts = test_load.load(path, 5 if short else 60)
    checked = test_load.verify(path, accounts)
    verbs = sum(sum(each["verbs"].values()) for each in accounts)
    refused = sum(sum(each["busy"].values()) for each in accounts)
    return {"threads": len(accounts), "verbs": verbs, "writes checked": checked, "refused as busy": refused, "lost": 0}


def machine(folder: Path, short: bool) -> Figures:
    """A random history of all verbs against a plain model."""
    from tests.core.test_whole_machine import walked

    return {"steps": walked(60 if short else 2_000), "differences": 0}


def guided(folder: Path, short: bool) -> Figures:
    """Coverage-guided inputs for every parser of texts and files of others, where atheris is installed."""
    from importlib.util import find_spec

    if find_spec("atheris") is None:
        return {"parsers, since atheris is not installed": 0}
    names = ("a_filter", "a_question", "a_message", "an_answer_of_a_model", "a_summary", "a_graph_question", "an_export",
             "a_file_of_others")  # fmt: skip
    tried = 0
    for name in names:
        done = subprocess.run(
            [sys.executable, "-m", "tests.fuzz.guided", name, f"-max_total_time={2 if short else 15}", "-max_len=2000",
             "-print_final_stats=1"],
            cwd=ROOT, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise AssertionError(f"{name}: {done.stderr[-3_000:]}")
        tried += int(re.findall(r"number_of_executed_units: (\d+)", done.stderr)[-1])
    return {"parsers": len(names), "inputs": tried, "other errors": 0}


PARTS: dict[str, Callable[[Path, bool], Figures]] = {
    "kill -9 at every step": kills,
    "kill -9 of random writers": writers,
    "damaged file, plain": damage(None),
    "damaged file, encrypted": damage(KEY),
    "erased, plain": erased(None),
    "erased, encrypted": erased(KEY),
    "many at once": many,
    "state machine": machine,
    "guided fuzzing": guided,
}
"""What is tried, by name; each gets an empty folder and gives its figures."""


def main() -> None:
    """Run all parts, or those named."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", help=f"of: {', '.join(PARTS)}")
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--json", type=Path)
    given = parser.parse_args()
    unknown = set(given.parts) - set(PARTS)
    if unknown:
        parser.error(f"unknown: {', '.join(sorted(unknown))}")
    found: dict[str, Figures] = {}
    for name, part in PARTS.items():
        if given.parts and name not in given.parts:
            continue
        begun = time.perf_counter()
        with tempfile.TemporaryDirectory(prefix="twinmem-torture-") as folder:
            found[name] = part(Path(folder), given.short)
        shown = ", ".join(f"{value:,} {what}" for what, value in found[name].items())
        print(f"{name}: {shown} ({time.perf_counter() - begun:.0f} s)", flush=True)
    if given.json is not None:
        given.json.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
