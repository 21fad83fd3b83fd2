"""Writes docs/recall.md: measures LoCoMo, MADial-Bench, each step's share and the speed, and fills the template.

    python benchmarks/publish.py [--locomo FILE] [--madial FOLDER] [--out docs/recall] [--only locomo madial ...]

The words are in recall.template.md; every figure, plot and version is measured. What was measured is kept in
OUT/figures.json, block by block with its date and the load of the machine, so that `--only speed` measures that block
and leaves the others as they were, and `--only` with nothing after it only writes the page anew. Times are measured
with nothing else running in this process; the ablation, which takes no times, runs on all cores.
"""

from __future__ import annotations

import argparse
import json
import multiprocessing
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import ablation
import options
import report

from shared_core.errors import MissingExtra
from shared_core.evaluation import embedders, page, reading
from shared_core.evaluation.machine import in_words
from shared_core.evaluation.madial import OWN
from shared_core.evaluation.run import PartResult, measure, systems_of
from shared_core.evaluation.sets import Part
from shared_core.evaluation.systems import OURS, Twinmem
from shared_core.evaluation.tables import figure, losing, tables

HERE = Path(__file__).parent
DATA = HERE.parent.parent / "shared" / "data"
BLOCKS = ("locomo", "madial", "e5", "fit", "ablation", "mixes", "hooks", "speed")
NOT_RUN = "*Not measured in this run.*"

ABOUT: Mapping[str, str] = {
    "meaning": "likeness of the text to the question's statements",
    "meaning around": "the same of its neighbours",
    "session meaning": "the same of the best text in its session",
    "same words": "the text is the question, word for word",
    "coverage": "share of the question's rare words that the text holds",
    "coverage around": "share that the text and its neighbours hold together",
    "window": "BM25 of the text with its neighbours",
    "session": "BM25 of its whole session",
    "speaker": "said by whom the question names",
    "about": "about whom the question names",
    "only asks": "the text does nothing but ask",
    "asks": "the text asks something",
    "length": "longer texts hold more",
    "answers": "follows a question that matches",
    "date": "said at the date asked for",
    "near date": "said near that date",
    "when": "asked when, and the text holds a time",
    "which": "asked who or which, and the text holds names",
    "how many": "asked how many, and the text holds a number",
    "temporal": "the text holds a time",
    "names": "the text holds names",
}
"""In words what a weight's number is; one that isn't here is shown without."""

Say = Callable[[str], None]


def aloud(text: str) -> None:
    """Print at once, also into a file."""
    print(text, flush=True)


def measured(parts: Sequence[Part], say: Say) -> list[PartResult]:
    """All systems on each part."""
    default = embedders.load("default")
    results = []
    for part in parts:
        started = time.perf_counter()
        results.append(measure(part, systems_of(part, default), [default]))
        say(f"{part.name}: {time.perf_counter() - started:.0f} s")
    return results


# ---------------------------------------------------------------------- the other embedder


def with_e5(parts: Sequence[Part], seconds: float, say: Say) -> list[PartResult]:
    """twinmem with both embedders on as much of each part as fits the time; nothing where e5 isn't installed."""
    try:
        default, e5 = embedders.load("default"), embedders.load("e5")
        e5.embed_query("ready?")
    except MissingExtra as error:
        say(f"no rows for e5: {error}")
        return []
    results = []
    for part in parts:
        started = time.perf_counter()
        smaller = affordable(part, e5, seconds / len(parts))
        systems = [Twinmem(default), Twinmem(e5, f"{OURS} with e5")]
        results.append(measure(smaller, systems, [default, e5], budgets=()))
        say(f"{part.name} with e5: {time.perf_counter() - started:.0f} s")
    return results


def affordable(part: Part, embedder: embedders.Shared, seconds: float) -> Part:
    """As many conversations of a part as can be embedded in the time (or questions, where talks are the queries)."""
    texts = [text for sample in part.samples for text in sample.turns.values()]
    started = time.perf_counter()
    embedder.embed_documents(texts[:: max(1, len(texts) // 20)])
    each = (time.perf_counter() - started) / 20
    forms = 4 if part.is_talk else 3  # texts that a query is embedded as, at most
    share = seconds / (each * (len(texts) + forms * len(part.questions)))
    if share >= 1:
        return part
    if part.is_talk:
        samples = [replace(s, questions=s.questions[: max(1, int(len(s.questions) * share))]) for s in part.samples]
        name = f"{part.name}, the first {sum(len(s.questions) for s in samples)} dialogues"
    else:
        samples = list(part.samples)[: max(1, int(len(part.samples) * share))]
        name = f"{part.name}, the first {len(samples)} of {len(part.samples)} conversations"
    return replace(part, samples=samples, name=name)


def e5_block(found: Sequence[PartResult]) -> str:
    """A table a part."""
    return "\n\n".join(page.markdown(tables(each)[0]) for each in found) or NOT_RUN


# ---------------------------------------------------------------------- what each step brings


def fit_started(locomo: Path) -> subprocess.Popen[str]:
    """train.py, which only prints; the weights stay as they are."""
    line = [sys.executable, str(HERE / "train.py"), str(locomo)]
    wide = {**os.environ, "COLUMNS": "160"}
    return subprocess.Popen(
        line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, encoding="utf-8", env=wide
    )


def fit_ended(process: subprocess.Popen[str]) -> str:
    """What it says about conversations under weights fitted without them."""
    text, _ = process.communicate()
    lines = [line.rstrip() for line in text.splitlines() if line.startswith(("left out", "as shipped"))]
    if process.returncode or not lines:
        return f"train.py gave no figures (exit code {process.returncode})."
    return "```\n" + "\n".join(lines) + "\n```"


def ablated(parts: Mapping[str, Part], say: Say) -> dict[str, ablation.Row]:
    """`ablation.run`, its steps shared out over the cores."""
    workers = min(multiprocessing.cpu_count(), 4)
    if workers < 2:
        return ablation.run(parts, embedders.load("default"), say)
    jobs = [(dict(parts), worker, workers) for worker in range(workers)]
    with multiprocessing.get_context("spawn").Pool(workers) as pool:
        shares = pool.map(_share, jobs)
    rows = {name: row for share in shares for name, row in share.items()}
    return {name: rows[name] for name in ["everything", *(step.name for step in ablation.steps())]}


def _share(job: tuple[dict[str, Part], int, int]) -> dict[str, ablation.Row]:
    parts, worker, workers = job
    chosen = ablation.steps()[worker::workers]
    return ablation.run(parts, embedders.load("default"), chosen=chosen)


def weights() -> str:
    """The weights there are, each with what it is for."""
    found = ablation.all_weights()
    names = list(dict.fromkeys(name for each in found.values() for name in each))
    heads = ["for a conversation" if "TALK" in name else "for a question" for name in found]
    lines = ["| number | what it is | " + " | ".join(heads) + " |", "| --- | --- |" + " ---: |" * len(heads)]
    for name in names:
        cells = [f"{each[name]:g}" if name in each else "-" for each in found.values()]
        lines.append(f"| {name} | {ABOUT.get(name, '')} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def steps_table(rows: Mapping[str, ablation.Row]) -> str:
    """The ablation as a table, and what its kinds of weights hold."""
    kinds = [step for step in ablation.steps() if len(step.weights) > 1]
    held = "\n".join(f"- {step.name}: {', '.join(step.weights)}" for step in kinds)
    return page.markdown(ablation.table(rows)) + "\n\nThe weights of each kind:\n\n" + held


# ---------------------------------------------------------------------- speed


def speed(sizes: Sequence[int], say: Say) -> dict[str, Any]:
    """scale.py in a process of its own, whose memory is its own too."""
    started = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "scale.json"
        line = [sys.executable, str(HERE / "scale.py"), "--json", str(out), "--sizes", *map(str, sizes)]
        subprocess.run(line, check=True, stdout=subprocess.DEVNULL)
        body: dict[str, Any] = json.loads(out.read_text(encoding="utf-8"))
    say(f"speed: {time.perf_counter() - started:.0f} s")
    return body


def speed_table(body: Mapping[str, Any]) -> str:
    """Its lines as a table."""
    lines = [
        "| records | what | twinmem | bare | figure | budget | |",
        "| ---: | --- | ---: | ---: | ---: | --- | --- |",
    ]
    for line in body["lines"]:
        size = f"{line['size']:,}" if line["size"] else ""
        cells = [
            size,
            line["what"],
            line["ours"],
            line["bare"],
            f"{line['figure']:.2f}",
            line["budget"],
            line["verdict"],
        ]
        lines.append("| " + " | ".join(str(cell) for cell in cells) + " |")
    over = "; ".join(body["over"]) or "nothing"
    return (
        "\n".join(lines)
        + f"\n\nOver budget: {over}. Load of the machine while measuring: {body['load_average'][0]:.1f}."
    )


# ---------------------------------------------------------------------- the page


def in_short(found: Sequence[PartResult]) -> list[str]:
    """A line a part: twinmem beside the peer that is best at it."""
    lines = []
    for each in found:
        peers = {n: r for n, r in each.results.items() if not r.is_control and not n.startswith(OURS)}
        best = max(peers, key=lambda name: peers[name].total()["R@10"], default=None)
        for name in [OURS, *([best] if best else [])]:
            row = each.results[name].total() | {"2000": each.results[name].context().get("2000")}
            cells = [figure(k, row.get(k)) for k in ("R@1", "R@5", "R@10", "MRR", "2000")]
            head = f"{each.part.name} | {each.n}" if name == OURS else " | "
            lines.append(
                f"| {head} | {f'**{name}**' if name == OURS else f'best peer: {name}'} | {' | '.join(cells)} |"
            )
    return lines


SHORT = (
    "| set | questions | | R@1 | R@5 | R@10 | MRR | evidence in 2,000 tokens |",
    "| --- | ---: | --- | ---: | ---: | ---: | ---: | ---: |",
)


def part_block(found: Sequence[PartResult], where: Path, folder: Path) -> str:
    """Tables and plots of a set's parts; what loses comes once, at the end of the page."""
    blocks = []
    for each in found:
        text = page.section(each, where, folder).partition("\n\nWhat loses:")[0]
        blocks.append(text.partition("\n\n")[2] if len(found) == 1 else "#" + text)
    return "\n\n".join(blocks)


# ---------------------------------------------------------------------- blocks, kept from run to run


def kept(folder: Path) -> dict[str, dict[str, Any]]:
    """The blocks of earlier runs, by name."""
    path = folder / "figures.json"
    if not path.exists():
        return {}
    found: dict[str, dict[str, Any]] = json.loads(path.read_text(encoding="utf-8")).get("blocks", {})
    return found


def block(text: str, figures: Any, short: Sequence[str] = (), losses: Sequence[str] = ()) -> dict[str, Any]:
    """What is kept of a block: its text for the page, and where and when it was measured."""
    load = os.getloadavg()[0] if hasattr(os, "getloadavg") else None
    return {
        "text": text, "short": list(short), "losses": list(losses), "measured": in_words(), "load": load,
        "figures": figures,
    }  # fmt: skip


def stamped(found: Mapping[str, Any]) -> str:
    """A block's text, after when it was measured and how busy the machine was then."""
    day = re.search(r"\d{4}-\d\d-\d\d", found["measured"])
    busy = "" if found["load"] is None else f", load of the machine {found['load']:.1f}"
    return f"*Measured on {day[0] if day else 'an unknown day'}{busy}.*\n\n{found['text']}"


def losses(blocks: Mapping[str, Mapping[str, Any]]) -> str:
    """All of them, by part."""
    return "\n".join(f"- {line}" for name in BLOCKS for line in blocks.get(name, {}).get("losses", ())) or NOT_RUN


def fill(template: str, values: Mapping[str, str]) -> str:
    """The template with a text for each name in braces. Raises `KeyError` for a name without one.

    >>> fill("{a} and {b}", {"a": "1", "b": "{2}"})
    '1 and {2}'
    """
    return re.sub(r"\{(\w+)\}", lambda found: values[found[1]], template)


def run(
    locomo: Path, madial: Path, out: Path, only: Sequence[str] = BLOCKS, sizes: Sequence[int] = (1_000, 10_000, 100_000),
    limit: int | None = None, e5_seconds: float = 240, say: Say = aloud,
) -> Path:  # fmt: skip
    """Measure what is in `only`, keep it, and write the page out of all that is kept."""
    where, folder = page.places(out)
    folder.mkdir(parents=True, exist_ok=True)
    for name in (each for each in BLOCKS if each in only):
        started = time.perf_counter()
        made = measure_block(name, locomo, madial, where, folder, sizes, limit, e5_seconds, say)
        say(f"{name}: {time.perf_counter() - started:.0f} s")
        report.write_json(folder / "figures.json", {"blocks": {**kept(folder), name: made}})
    written(where, folder, locomo, madial)
    return where


def measure_block(
    name: str, locomo: Path, madial: Path, where: Path, folder: Path, sizes: Sequence[int], limit: int | None,
    e5_seconds: float, say: Say,
) -> dict[str, Any]:  # fmt: skip
    """One block, measured anew."""
    if name in ("locomo", "madial"):
        parts = reading.read([locomo if name == "locomo" else madial], name, limit=limit)
        found = measured(parts, say)
        lost = [f"{each.part.name}: {line}" for each in found for line in losing(each)]
        return block(part_block(found, where, folder), [each.as_json() for each in found], in_short(found), lost)
    if name == "e5":
        own = [part for part in reading.read([madial], "madial", limit=limit) if part.name.endswith(OWN)]
        other = with_e5([*reading.read([locomo], "locomo", limit=limit), *own], e5_seconds, say)
        lost = [f"{each.part.name}: {line}" for each in other for line in losing(each)]
        return block(e5_block(other), [each.as_json() for each in other], (), lost if other else ())
    if name == "fit":
        text = fit_ended(fit_started(locomo))
        return block(text, text)
    if name == "speed":
        body = speed(sizes, say)
        return block(speed_table(body), body, (), [f"over budget: {line}" for line in body["over"]])
    sets = ablation.parts_of(locomo, madial, limit)
    if name == "ablation":
        rows = ablated(sets, say)
        return block(steps_table(rows), rows)
    rows = options.run(sets, embedders.load("default"), [name], lambda row: say(f"  {row}"))
    return block(page.markdown(options.table(rows, f"Recall with {name}")), rows)


def written(where: Path, folder: Path, locomo: Path, madial: Path) -> None:
    """The page out of the blocks that are kept; plots that it does not show go."""
    blocks = kept(folder)
    short = [line for name in BLOCKS for line in blocks.get(name, {}).get("short", ())]
    values = {name: stamped(blocks[name]) if name in blocks else NOT_RUN for name in BLOCKS}
    values |= {
        "environment": next((each["measured"] for each in blocks.values()), in_words()),
        "short": "\n".join([*SHORT, *short]) if short else NOT_RUN,
        "weights": weights(),
        "losses": losses(blocks),
        "commands": _commands(locomo, madial),
    }
    template = (HERE / "recall.template.md").read_text(encoding="utf-8")
    text = fill(template, values)
    where.write_text(text, encoding="utf-8")
    for plot in folder.glob("*.png"):
        if plot.name not in text:
            plot.unlink()


def _commands(locomo: Path, madial: Path) -> str:
    return "\n".join(
        (
            f"make bench LOCOMO={locomo} MADIAL={madial}   # all of this page",
            f"twinmem bench {locomo}   # LoCoMo: tables, context recall, plots",
            f"twinmem bench {locomo} --embedder e5",
            f"twinmem bench {madial}   # MADial-Bench",
            f"python benchmarks/train.py {locomo}   # each conversation under weights fitted on the others",
            f"python benchmarks/ablation.py {locomo} {madial}",
            f"python benchmarks/options.py {locomo} {madial}   # mixes, rerankers, expansions",
            "python benchmarks/scale.py   # speed",
            "python benchmarks/publish.py --only speed   # one block of this page, the others as they were",
        )
    )


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--locomo", type=Path, default=DATA / "locomo-dev.json", help="a LoCoMo file")
    parser.add_argument("--madial", type=Path, default=DATA / "madial", help="the folder with MADial-Bench's files")
    parser.add_argument("--out", type=Path, default=HERE.parent / "docs" / "recall", help="the page, without .md")
    parser.add_argument("--only", nargs="*", choices=BLOCKS, default=list(BLOCKS), help="some blocks; the others stay")
    parser.add_argument("--sizes", nargs="+", type=int, default=[1_000, 10_000, 100_000], help="records, for the speed")
    parser.add_argument("--limit", type=int, help="only so many conversations, for a try")
    parser.add_argument("--e5-seconds", type=float, default=240, help="how long e5 may embed")
    given = parser.parse_args(arguments)
    started = time.perf_counter()
    where = run(given.locomo, given.madial, given.out, given.only, given.sizes, given.limit, given.e5_seconds)
    aloud(f"{where} in {time.perf_counter() - started:.0f} s")


if __name__ == "__main__":
    main()
