"""LangGraph store items, as `Item.dict()` gives them: `{"namespace": [...], "key": ..., "value": {...}}`."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.formats.conversation import as_name, at, moment
from shared_core.formats.json_stream import Source
from shared_core.formats.told import Told


def matches(sample: Any) -> bool:
    """Whether a file's first item is such an item.

    >>> matches({"namespace": ["memories", "alice"], "key": "tea", "value": {"text": "likes tea"}})
    True
    """
    if isinstance(sample, list):
        return bool(sample) and matches(sample[0])
    return isinstance(sample, dict) and isinstance(sample.get("value"), dict) and {"namespace", "key"} <= sample.keys()


def read(source: Source) -> Iterator[Told]:
    """The items of a file, each with the address it is kept under."""
    for where, value in source.items():
        with at(where):
            if not matches(value) or isinstance(value, list):
                raise InvalidInput("expected a store item with 'namespace', 'key' and 'value'")
            found = _item(value)
        yield found


def _item(value: Mapping[str, Any]) -> Told:
    path = value["namespace"]
    if not isinstance(path, list) or not all(isinstance(part, str) for part in path):
        raise InvalidInput("a namespace is a list of texts")
    key = as_name(value["key"])
    if key is None:
        raise InvalidInput("a key is a text")
    # The user of ("memories", user), the form of `TwinmemStore`; of another namespace the caller says who it is.
    user = path[1] if len(path) == 2 and path[0] == "memories" else None
    return Told(
        id=json.dumps([*path, key]), text="\n".join(_texts(value["value"])), user=user, kind="item",
        metadata=value["value"], source="store", created_at=moment(value.get("created_at")),
        updated_at=moment(value.get("updated_at")),
    )  # fmt: skip


def _texts(value: Any) -> Iterator[str]:
    """The texts and numbers in a value, by which the owner's own search finds it."""
    if isinstance(value, dict | list):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)
    elif isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        yield str(value)
