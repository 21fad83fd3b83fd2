"""What `scale.py` feeds to twinmem and to the bare engines: seeded texts, vectors and questions.

The texts are made-up words in two languages, drawn by Zipf's law, about twelve words each: long lists of postings
for frequent words and short ones for rare words, as in real memories. The vectors lie in clusters, as a model's do.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

DIMENSIONS = 512
TOPICS = 10
_CLUSTERS = 256
_ONSETS = (
    "b",
    "br",
    "c",
    "d",
    "dr",
    "f",
    "g",
    "gl",
    "h",
    "k",
    "l",
    "m",
    "n",
    "p",
    "pl",
    "r",
    "s",
    "st",
    "t",
    "tr",
    "v",
)
_RIMES = (
    "a",
    "an",
    "ar",
    "e",
    "el",
    "en",
    "er",
    "i",
    "in",
    "is",
    "o",
    "on",
    "or",
    "u",
    "um",
    "un",
    "y",
    "ay",
    "ea",
    "ow",
)
_CJK = (0x4E00, 0x9FA5)


@dataclass(frozen=True)
class Workload:
    """Records and questions; row i of a matrix belongs to text i."""

    texts: list[str]
    vectors: np.ndarray
    topics: list[str]
    words: list[np.ndarray]
    questions: list[str]
    question_vectors: np.ndarray

    def embedder(self) -> Prepared:
        """An embedder that knows every text and question of it."""
        vectors = np.concatenate([self.vectors, self.question_vectors])
        return Prepared([*self.texts, *self.questions], vectors)


class Prepared:
    """An embedder that looks vectors up, so that a benchmark measures the memory and not a model.

    A text it wasn't given gets a vector drawn from its hash and counts in `misses`.
    """

    name = "prepared"

    def __init__(self, texts: Sequence[str], vectors: np.ndarray) -> None:
        self.dimensions = int(vectors.shape[1])
        self.misses = 0
        self._vectors = vectors
        self._rows = {text: row for row, text in enumerate(texts)}

    def embed_documents(self, texts: Sequence[str]) -> Any:
        """A float32 matrix with one unit row a text."""
        rows = [self._rows.get(text, -1) for text in texts]
        if -1 not in rows:
            return self._vectors[rows]
        return np.stack([self.embed_query(text) for text in texts])

    def embed_query(self, text: str) -> Any:
        """A float32 unit vector."""
        row = self._rows.get(text)
        if row is not None:
            return self._vectors[row]
        self.misses += 1
        seed = int.from_bytes(hashlib.blake2b(text.encode("utf-8", "replace"), digest_size=8).digest(), "big")
        return _unit(np.random.default_rng(seed).standard_normal((1, self.dimensions)))[0]


def generate(size: int, questions: int, spare: int = 0, seed: int = 7) -> Workload:
    """`size` different texts, three in ten Chinese, and questions that each ask for one of them.

    A question has some of its record's words and two of its own; its vector lies near the record's. `spare` more
    texts follow, which no question asks for.
    """
    rng = np.random.default_rng(seed)
    english, chinese = _english(rng, 6000), _chinese(rng, 4000)
    texts: list[str] = []
    words: list[np.ndarray] = []
    known: set[str] = set()
    total = size + spare
    while len(texts) < total:
        for text, terms in _draw(rng, english, chinese, total - len(texts)):
            if text not in known:
                known.add(text)
                texts.append(text)
                words.append(terms)
    vectors = clustered(rng, total)
    topics = [f"topic-{topic}" for topic in rng.integers(0, TOPICS, total)]
    asked, near = [], np.empty((questions, DIMENSIONS), dtype=np.float32)
    for number, target in enumerate(rng.integers(0, size, questions)):
        asked.append(_question(rng, words[target], english, chinese, number))
        near[number] = vectors[target]
    near = _unit(near + 0.7 * _unit(rng.standard_normal((questions, DIMENSIONS))))
    return Workload(texts, vectors, topics, words, asked, near)


def _english(rng: np.random.Generator, count: int) -> list[str]:
    made: dict[str, None] = {}
    while len(made) < count:
        syllables = int(rng.integers(1, 4))
        made["".join(str(rng.choice(_ONSETS)) + str(rng.choice(_RIMES)) for _ in range(syllables))] = None
    return list(made)


def _chinese(rng: np.random.Generator, count: int) -> list[str]:
    # 2,500 characters make up nearly all running text, so words share characters as real ones do.
    characters = rng.choice(np.arange(*_CJK), 2500, replace=False)
    made: dict[str, None] = {}
    while len(made) < count:
        made["".join(chr(code) for code in rng.choice(characters, int(rng.integers(1, 3))))] = None
    return list(made)


def _zipf(rng: np.random.Generator, vocabulary: int, count: int) -> np.ndarray:
    weights = 1.0 / (np.arange(vocabulary) + 2.7)
    return rng.choice(vocabulary, count, p=weights / weights.sum())


def _draw(rng: np.random.Generator, english: list[str], chinese: list[str], count: int) -> list[tuple[str, np.ndarray]]:
    lengths = np.clip(rng.normal(12, 3, count).round().astype(int), 4, 24)
    is_chinese = rng.random(count) < 0.3
    total = int(lengths.sum())
    by_language = (_zipf(rng, len(english), total), _zipf(rng, len(chinese), total))
    drawn, start = [], 0
    for length, cjk in zip(lengths, is_chinese, strict=True):
        terms = by_language[int(cjk)][start : start + length]
        start += length
        if cjk:
            drawn.append(("".join(chinese[term] for term in terms) + "。", terms.astype(np.int32) + len(english)))
        else:
            drawn.append((" ".join(english[term] for term in terms).capitalize() + ".", terms.astype(np.int32)))
    return drawn


def _question(rng: np.random.Generator, terms: np.ndarray, english: list[str], chinese: list[str], number: int) -> str:
    cjk = bool(terms[0] >= len(english))
    vocabulary, base = (chinese, len(english)) if cjk else (english, 0)
    chosen = [vocabulary[term - base] for term in rng.choice(terms, min(5, len(terms)), replace=False)]
    chosen += [vocabulary[term] for term in _zipf(rng, len(vocabulary), 2)]
    # The number keeps questions apart, and gives the word search a term that no record has.
    return "".join(chosen) + f"{number}？" if cjk else " ".join(chosen) + f" {number}?"


def clustered(rng: np.random.Generator, count: int) -> np.ndarray:
    """Unit vectors around 256 centres, as a model's lie: shape (count, 512), float32."""
    centres = _unit(rng.standard_normal((_CLUSTERS, DIMENSIONS)))
    out = np.empty((count, DIMENSIONS), dtype=np.float32)
    for start in range(0, count, 10_000):
        stop = min(start + 10_000, count)
        noise = _unit(rng.standard_normal((stop - start, DIMENSIONS), dtype=np.float32))
        out[start:stop] = _unit(centres[rng.integers(0, _CLUSTERS, stop - start)] + 0.8 * noise)
    return out


def _unit(vectors: np.ndarray) -> np.ndarray:
    return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)
