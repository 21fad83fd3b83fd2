"""Evidence recall on LoCoMo, turn by turn: twinmem, its peers, and controls, in one run.

    python benchmarks/locomo.py PATH [--json OUT] [--no-peers] [--limit-conversations N] [--embedder e5]

Candidates are the turns of the question's own conversation; all five categories count; questions without
evidence are skipped. R@k is the share of a question's evidence turns in the first k, averaged over questions.
Every system is asked once for the first 50 turns, so MRR is that of the first evidence turn within 50.
Milliseconds are for a second pass over each conversation's questions, whose embedding is then cached for all.
The same, with context recall, plots and other sets: `twinmem bench`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import report

from shared_core.evaluation import embedders, reading
from shared_core.evaluation.run import measure, systems_of


def run(
    path: str | Path,
    embedder_name: str = "default",
    peers: bool = True,
    limit: int | None = None,
    ours: bool = True,
) -> dict[str, Any]:
    """Measure everything on a LoCoMo file; prints the tables and returns what `--json` writes."""
    out = report.console()
    [part] = reading.read([path], "locomo")
    part = replace(part, samples=part.samples[:limit])  # the wrong query may come from any conversation
    embedder = embedders.load(embedder_name)
    found = measure(part, systems_of(part, embedder, ours=ours, peers=peers), [embedder], budgets=())
    report.show(out, found)
    return {"benchmark": "locomo", "file": Path(path).name, **found.as_json()}


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("path", type=Path, help="a LoCoMo file, such as locomo10.json")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure peers too")
    parser.add_argument("--ours", action=argparse.BooleanOptionalAction, default=True, help="measure twinmem")
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="only the first N conversations")
    parser.add_argument("--embedder", choices=embedders.NAMES, default="default", help="for all systems alike")
    options = parser.parse_args(arguments)
    body = run(options.path, options.embedder, options.peers, options.limit_conversations, options.ours)
    report.write_json(options.json, body)


if __name__ == "__main__":
    main()
