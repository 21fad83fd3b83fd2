"""JSON out of what a language model wrote: fenced, wrapped in talk or thoughts, cut short or slightly broken.

json-repair mends what the standard parser refuses; it is loaded only then.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, Final

_THOUGHT: Final = re.compile(r"<(/?)think(?:ing)?>", re.IGNORECASE)
_FENCE: Final = re.compile(r"```(?:json|JSON)?[ \t]*\n?(.*?)(?:```|\Z)", re.DOTALL)
_STARTS: Final = 40
_LONGEST: Final = 200_000  # characters that are repaired, in 3 s at worst; no answer to one of our prompts is longer
_DECODER: Final = json.JSONDecoder(strict=False)


def candidates(output: str) -> Iterator[Any]:
    """Every object or array that an answer may have meant, the likeliest first; repaired ones last.

    >>> next(candidates('<think>{x}</think>Sure: {"facts": []} Anything else?'))
    {'facts': []}
    """
    text = without_thoughts(output)
    places = [match[1] for match in _FENCE.finditer(text) if match[1].strip()] + [text]
    for place in places:
        yield from _decoded(place)
    for place in places:
        yield from _repaired(place)


def without_thoughts(output: str) -> str:
    """An answer without what a reasoning model thought aloud before it.

    >>> without_thoughts("<think>{x}</think>yes")
    'yes'
    """
    kept: list[str] = []
    end, begun = 0, None
    for found in _THOUGHT.finditer(output):  # one pass: an answer may hold a hundred thousand tags that never close
        if not found[1]:
            begun = found.start() if begun is None else begun
            continue
        if begun is None:
            kept = []  # it began before the answer did
        else:
            kept.append(output[end:begun])
        end, begun = found.end(), None
    return "".join([*kept, output[end:]])


def _decoded(text: str) -> Iterator[Any]:
    end = 0
    for match in list(re.finditer(r"[\[{]", text))[:_STARTS]:
        if match.start() < end:
            continue  # inside a value that was read already
        try:
            value, end = _DECODER.raw_decode(text, match.start())
        except (ValueError, RecursionError):
            continue
        yield value


def _repaired(text: str) -> Iterator[Any]:
    start = re.search(r"\{\s*[\"'\w]|\[\s*[{\"']", text)
    if start is None:
        return
    from json_repair import repair_json

    try:
        value: Any = repair_json(text[start.start() :][:_LONGEST], return_objects=True, skip_json_loads=True)
    except Exception:  # noqa: BLE001  found by fuzzing: its own assertions fail on some texts
        return
    if isinstance(value, dict | list) and value:
        yield value
