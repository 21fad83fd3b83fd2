"""Text to vectors: the bundled model, a cache over any model, a hashing embedder for tests."""
