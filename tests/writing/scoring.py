"""Precision and recall of an extractor on the labelled sets beside this file."""

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

from shared_core.values import Message
from shared_core.writing.extraction import Extracted

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
    return [word for word in re.findall(r"[a-z0-9@.+'-]+|[\u4e00-\u9fff]", text) if word not in ("a", "an", "the", "my")]


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
