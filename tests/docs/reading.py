"""Pages of Markdown as what a reader runs: fenced blocks, with the note above and the output below each."""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[2]
_FENCE = re.compile(
    r"(?:^[ \t]*<!-- (?P<note>[^\n]*?) -->\n)?^(?P<indent>[ \t]*)```(?P<language>\w*)[^\n]*\n(?P<body>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)


@dataclass(frozen=True)
class Block:
    """A fenced block: `note` stands in a comment above it, `line` is where its text begins."""

    language: str
    body: str
    note: str
    line: int
    prints: str | None = None


def pages() -> list[Path]:
    """The pages with examples: both READMEs, and all under docs/."""
    return [ROOT / "README.md", ROOT / "README.zh.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> list[Block]:
    """The fenced blocks of a page; a `text` block right after a Python block is what that prints."""
    text = page.read_text("utf-8")
    found: list[Block] = []
    end = None
    for match in _FENCE.finditer(text):
        indent = match["indent"]
        body = "".join(line.removeprefix(indent) for line in match["body"].splitlines(keepends=True))
        line = text.count("\n", 0, match.start("body")) + 1
        follows = end is not None and not text[end : match.start()].strip()
        if match["language"] == "text" and follows and found[-1].language == "python":
            last = found[-1]
            found[-1] = Block(last.language, last.body, last.note, last.line, prints=body)
        else:
            found.append(Block(match["language"], body, match["note"] or "", line))
        end = match.end()
    return found
