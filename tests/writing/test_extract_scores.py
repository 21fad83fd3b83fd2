"""The rules' precision and recall on the labelled sets in `extraction/`; see its README for how they are scored."""

from __future__ import annotations

import json
import random
import re
import unicodedata
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from shared_core.values import Message
from shared_core.writing.extraction import PREDICATES, Extracted, extract

SEED = 20240515
FOLDER = Path(__file__).parent / "extraction"
Fact = tuple[str, str, str, bool]


def load(language: str) -> list[dict[str, Any]]:
    """The labelled sentences of a language."""
    lines = (FOLDER / f"{language}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def halves(rows: list[dict[str, Any]]) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    """The half the rules were tuned on, and the half that was scored once, at the end."""
    order = list(range(len(rows)))
    random.Random(SEED).shuffle(order)
    middle = len(rows) // 2
    return [rows[i] for i in order[:middle]], [rows[i] for i in order[middle:]]


def _words(text: str) -> list[str]:
    text = unicodedata.normalize("NFKC", text).casefold()
    return [
        word for word in re.findall(r"[a-z0-9@.+'-]+|[\u4e00-\u9fff]", text) if word not in ("a", "an", "the", "my")
    ]


def agrees(found: Fact, wanted: Fact) -> bool:
    """The same subject, predicate and polarity, and objects of which one holds the other and no more than twice it."""
    if (found[0].casefold(), found[1], found[3]) != (wanted[0].casefold(), wanted[1], wanted[3]):
        return False
    a, b = sorted((_words(found[2]), _words(wanted[2])), key=len)
    return bool(a) and " ".join(a) in " ".join(b) and len(b) <= 2 * len(a)


@dataclass
class Score:
    """Counts, with what was wrongly found or missed."""

    right: int = 0
    found: int = 0
    wanted: int = 0
    wrong: list[tuple[str, Fact]] = field(default_factory=list)
    missed: list[tuple[str, Fact]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        return self.right / self.found if self.found else 1.0

    @property
    def recall(self) -> float:
        return self.right / self.wanted if self.wanted else 1.0


def score(rows: Iterable[dict[str, Any]], extract: Callable[..., list[Extracted]]) -> Score:
    """What an extractor finds in labelled sentences, each read as one user message."""
    total = Score()
    for row in rows:
        message = Message(role="user", content=row["text"], name=row["speaker"])
        facts = extract(message, at=datetime.fromisoformat(row["at"]), speaker=row["speaker"])
        found: list[Fact] = [(f.subject, f.predicate, f.object, f.polarity) for f in facts]
        wanted: list[Fact] = [(f["subject"], f["predicate"], f["object"], f["polarity"]) for f in row["facts"]]
        left = list(wanted)
        for fact in found:
            match = next((w for w in left if agrees(fact, w)), None)
            if match is None:
                total.wrong.append((row["text"], fact))
            else:
                left.remove(match)
                total.right += 1
        total.missed += [(row["text"], fact) for fact in left]
        total.found += len(found)
        total.wanted += len(wanted)
    return total


def _figures(total: Score) -> str:
    return f"P {total.precision:.3f} R {total.recall:.3f}\nwrong: {total.wrong}\nmissed: {total.missed}"


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_d2_the_half_the_rules_were_tuned_on(language: str) -> None:
    """A user would get wrong facts about themselves, or too few."""
    tuned, _ = halves(load(language))
    total = score(tuned, extract)
    assert total.precision >= 0.97, _figures(total)
    assert total.recall >= 0.95, _figures(total)


@pytest.mark.parametrize(("language", "precision", "recall"), [("english", 0.99, 0.97), ("chinese", 0.97, 0.94)])
def test_d2_the_half_that_was_held_out(language: str, precision: float, recall: float) -> None:
    """What was scored once, at the end (the issue asks for .90 and .60); the sentences of this half were never looked at while tuning."""
    _, held_out = halves(load(language))
    total = score(held_out, extract)
    assert total.precision >= precision, f"P {total.precision:.3f}"
    assert total.recall >= recall, f"R {total.recall:.3f}"


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_the_sets_are_what_they_claim(language: str) -> None:
    rows = load(language)
    assert len(rows) >= 220
    assert len({row["text"] for row in rows}) == len(rows)
    assert sum(not row["facts"] for row in rows) >= len(rows) / 3
    used = {fact["predicate"] for row in rows for fact in row["facts"]}
    assert all(predicate in PREDICATES or predicate.startswith("favourite ") for predicate in used)


@pytest.mark.parametrize("language", ["english", "chinese"])
def test_every_predicate_the_rules_give_is_documented(language: str) -> None:
    """A user who declares which predicates hold one value must be able to know them all."""
    for row in load(language):
        message = Message(role="user", content=row["text"])
        for found in extract(message, at=datetime.fromisoformat(row["at"])):
            assert found.predicate in PREDICATES or found.predicate.startswith("favourite ")
