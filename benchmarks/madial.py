"""MADial-Bench, Chinese and English: which memory should an assistant recall at this point of a dialogue?

    python benchmarks/madial.py FOLDER [--language zh en] [--json OUT] [--no-peers] [--embedder e5]

FOLDER holds MADial-Bench-<language>-memory.json and -dialogue.json, one JSON object a line. The query is the
dialogue before its first `test-turn`. R@k is the share of `relevant-id` in the first k, once over the memories of
everybody and once over those of the dialogue's own user. twinmem gets the dialogue as messages; a peer takes one
string, so it is asked with the last message, the last two, and the whole dialogue, and its best view is shown.
The same, with context recall and plots: `twinmem bench`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import report

from shared_core.evaluation import embedders, madial
from shared_core.evaluation.run import measure, systems_of


def run(
    folder: str | Path,
    languages: Sequence[str] = madial.LANGUAGES,
    embedder_name: str = "default",
    with_peers: bool = True,
    ours: bool = True,
) -> dict[str, Any]:
    """Measure every language; prints the tables and returns what `--json` writes."""
    out = report.console()
    embedder = embedders.load(embedder_name)
    parts = []
    for part in madial.read(Path(folder), languages):
        found = measure(part, systems_of(part, embedder, ours=ours, peers=with_peers), [embedder], budgets=())
        report.show(out, found)
        parts.append(found.as_json())
    return {"benchmark": "madial", "embedder": embedder.name, "parts": parts}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder with MADial-Bench's files")
    parser.add_argument("--language", nargs="+", choices=madial.LANGUAGES, default=list(madial.LANGUAGES))
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure peers too")
    parser.add_argument("--ours", action=argparse.BooleanOptionalAction, default=True, help="measure twinmem")
    parser.add_argument("--embedder", choices=embedders.NAMES, default="default", help="for all systems alike")
    options = parser.parse_args(arguments)
    body = run(options.folder, options.language, options.embedder, options.peers, options.ours)
    report.write_json(options.json, body)


if __name__ == "__main__":
    main()
