"""An embedder without a model: a bag of hashed words. For tests, and where nothing may be loaded."""

from __future__ import annotations

import numpy as np

from shared_core.recall.text import term_id, terms


class HashingEmbedder:
    """Deterministic vectors out of words: the same words give the same vector, on every machine.

    >>> HashingEmbedder(8).embed_query("green tea") == HashingEmbedder(8).embed_query("tea, green")
    True
    """

    def __init__(self, dimensions: int = 64, name: str = "hashing") -> None:
        self.name = name
        self.dimensions = dimensions

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Unit vectors, one a text; a text without words gives zeros."""
        return [self._vector(text) for text in texts]

    def embed_query(self, text: str) -> list[float]:
        """The unit vector of a question."""
        return self._vector(text)

    def _vector(self, text: str) -> list[float]:
        vector = np.zeros(self.dimensions)
        for term in terms(text):
            number = term_id(term)
            vector[number % self.dimensions] += 1.0 if number >> 63 else -1.0
        norm = float(np.sqrt(vector @ vector))
        return [float(x) for x in (vector / norm if norm else vector)]
