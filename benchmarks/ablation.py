"""What each step of recall brings: the figures with one step switched off at a time.

    python benchmarks/ablation.py LOCOMO MADIAL_FOLDER [--limit-conversations N] [--json OUT]

Steps are found by name when this runs: every weight in `shared_core.recall` (a mapping called `...WEIGHTS`) is a
step, those of one kind are a step together, and so is each way of rewriting a question. The other weights stay as
they are: a fit without the step would make up for a part of what it brings, so a row is the most it can be worth.
A row without figures for a set was not needed there (a conversation as the query has weights of its own).
"""

from __future__ import annotations

import argparse
import contextlib
import importlib
import pkgutil
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import report

import shared_core.recall
from shared_core.evaluation import embedders, madial, reading
from shared_core.evaluation.retrieval import aggregate, figures
from shared_core.evaluation.sets import Part
from shared_core.evaluation.systems import Twinmem
from shared_core.evaluation.tables import Table

SHOWN = {"LoCoMo": ("R@1", "R@5", "R@10", "MRR"), "MADial zh": ("R@5", "R@10"), "MADial en": ("R@5", "R@10")}

KINDS: Mapping[str, tuple[str, ...]] = {
    "meaning: all that comes from vectors": ("meaning", "cosine", "vector", "dense"),
    "words: all that comes from terms": ("words", "coverage", "bm25", "window", "term", "idf", "overlap"),
    "the talk around": ("around", "window", "neighbour", "answers", "before", "after", "next"),
    "the session as a whole": ("session",),
    "who speaks": ("speaker", "subject"),
    "dates asked for": ("date", "time", "near date"),
    "kinds of answer": ("when", "which", "how many", "temporal", "names", "numbers"),
    "questions and short turns count less": ("asks", "length", "short", "question"),
}
"""Weights by words of their names; a kind that has a single weight, or none, makes no row of its own."""

Off = Callable[[Callable[..., Any]], Callable[..., Any]]

FORMS: Mapping[str, tuple[str, Off]] = {
    "questions as statements": ("statements", lambda real: lambda *given: real("green tea")),  # which asks nothing
    'names of speakers as "I"': ("first_person", lambda real: lambda text, *given: real(text, ())),  # nobody is known
    "dates in the question": ("asked_dates", lambda real: lambda text, *given: real("tea", *given)),
}
"""Functions by name, wherever `shared_core.recall` uses them, asked for what leaves their answer empty."""

Weights = Mapping[str, float]


@dataclass(frozen=True)
class Step:
    """A step: its name, the weights it takes away, or the function it empties and how."""

    name: str
    weights: tuple[str, ...] = ()
    function: str = ""
    off: Off | None = None


def modules() -> list[Any]:
    """All modules of the recall room."""
    path = shared_core.recall.__path__
    return [importlib.import_module(f"shared_core.recall.{found.name}") for found in pkgutil.iter_modules(path)]


def all_weights() -> dict[str, Weights]:
    """Every mapping of weights by the name it has, each once."""
    found: dict[str, Weights] = {}
    for module in modules():
        for name, value in vars(module).items():
            if name.endswith("WEIGHTS") and isinstance(value, Mapping):
                found.setdefault(name, value)
    return found


def steps() -> list[Step]:
    """All steps there are: kinds of weights first, then the rewritings, then each weight alone."""
    names = list(dict.fromkeys(name for weights in all_weights().values() for name in weights))
    kinds = [Step(kind, tuple(n for n in names if _is_of(n, words))) for kind, words in KINDS.items()]
    known = {name for module in modules() for name in vars(module)}
    forms = [Step(name, (), function, off) for name, (function, off) in FORMS.items() if function in known]
    return [*(kind for kind in kinds if len(kind.weights) > 1), *forms, *(Step(f"`{n}`", (n,)) for n in names)]


def _is_of(name: str, words: Sequence[str]) -> bool:
    plain = name.lower().replace("_", " ")
    return any(word == plain or f" {word} " in f" {plain} " or (len(word) > 4 and word in plain) for word in words)


@contextlib.contextmanager
def without(step: Step) -> Iterator[None]:
    """Recall without a step, in every module that holds its weights or functions."""
    changed: list[tuple[Any, str, Any]] = []
    for module in modules():
        for name, value in list(vars(module).items()):
            new: Any = None
            if step.weights and name.endswith("WEIGHTS") and isinstance(value, Mapping):
                new = {key: weight for key, weight in value.items() if key not in step.weights}
            if step.off is not None and name == step.function:
                new = step.off(value)
            if new is not None:
                changed.append((module, name, value))
                setattr(module, name, new)
    try:
        yield
    finally:
        for module, name, value in changed:
            setattr(module, name, value)


class Built:
    """A part with a memory a conversation, built once for all steps."""

    def __init__(self, part: Part, embedder: embedders.Shared) -> None:
        self._part = part
        self._samples = list(part.samples)
        self._systems = []
        for sample in self._samples:
            system = Twinmem(embedder)
            system.build(sample)
            self._systems.append(system)

    def measure(self) -> dict[str, float]:
        """The mean figures over all questions."""
        rows = []
        for sample, system in zip(self._samples, self._systems, strict=True):
            for question in sample.questions:
                ranking = system.rank(question, "", self._part.depth)
                rows.append(figures(ranking, question.evidence, self._part.ks))
        return aggregate(rows)

    def close(self) -> None:
        """Close the memories."""
        for system in self._systems:
            system.close()


Row = dict[str, dict[str, float]]


def run(
    parts: Mapping[str, Part],
    embedder: embedders.Shared,
    progress: Callable[[str], None] = lambda name: None,
    chosen: Sequence[Step] | None = None,
) -> dict[str, Row]:
    """The figures of each set with everything, and without each step; a set that a step leaves alone is not asked."""
    built = {name: Built(part, embedder) for name, part in parts.items()}
    whole = {name: each.measure() for name, each in built.items()}
    rows: dict[str, Row] = {"everything": whole}
    talk_names = {key for name, weights in all_weights().items() if "TALK" in name for key in weights}
    for step in steps() if chosen is None else chosen:
        progress(step.name)
        asked = {}
        for name, each in built.items():
            if step.weights and parts[name].is_talk and talk_names and not talk_names & set(step.weights):
                continue  # its weights are not used where a conversation is the query
            try:
                with without(step):
                    asked[name] = each.measure()
            except Exception as error:  # what recall can't do without is no reason to lose the other rows
                progress(f"  failed on {name}: {type(error).__name__}: {error}")
        rows[step.name] = asked
    for each in built.values():
        each.close()
    return rows


def table(rows: Mapping[str, Row]) -> Table:
    """A column a figure; the first row is recall as it is, each other row without one step."""
    columns = [(name, figure) for name in rows["everything"] for figure in SHOWN.get(name, ("R@5", "R@10"))]
    made: list[tuple[str, dict[str, float | None]]] = []
    for step, row in rows.items():
        cells = {f"{name} {figure}": row[name][figure] if name in row else None for name, figure in columns}
        made.append((step if step == "everything" else f"without {step}", cells))
    return Table("What is left without a step", tuple(f"{name} {figure}" for name, figure in columns), made, "recall")


def parts_of(locomo: Path, madial_folder: Path | None, limit: int | None) -> dict[str, Part]:
    """LoCoMo, and MADial-Bench within the right user."""
    found = {"LoCoMo": reading.read([locomo], "locomo", limit=limit)[0]}
    if madial_folder is not None:
        for part in madial.read(madial_folder):
            if part.name.endswith(madial.OWN):
                found[part.name.replace("MADial-Bench", "MADial").removesuffix(f", {madial.OWN}")] = part
    return found


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("locomo", type=Path, help="a LoCoMo file")
    parser.add_argument("madial", type=Path, nargs="?", help="the folder with MADial-Bench's files")
    parser.add_argument("--limit-conversations", type=int, metavar="N", help="only N conversations of LoCoMo")
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    options = parser.parse_args(arguments)
    out = report.console()
    embedder = embedders.load("default")
    parts = parts_of(options.locomo, options.madial, options.limit_conversations)
    rows = run(parts, embedder, lambda name: out.print(f"[dim]without {name}[/dim]"))
    out.print(report.table(table(rows)))
    report.write_json(options.json, {"benchmark": "ablation", "rows": rows})


if __name__ == "__main__":
    main()
