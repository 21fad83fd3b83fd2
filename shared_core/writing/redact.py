"""The seam before everything that stores, embeds or logs: what must not be kept is taken out here.

The default keeps everything. A `Redactor` is applied to every text, and to every string inside
metadata, message content, tool calls and a framework's own dict; ids and keys are never touched.
"""

from __future__ import annotations

from typing import Any

from shared_core.ports import Redactor

_NEVER = frozenset({"id", "tool_call_id", "type", "role", "session_id", "message_id"})


def redacted(value: Any, redactor: Redactor | None) -> Any:
    """A copy of a JSON-like value with each string redacted, but for ids and type names.

    >>> redacted({"id": "7", "text": "call 555"}, lambda t: t.replace("555", "***"))
    {'id': '7', 'text': 'call ***'}
    """
    if redactor is None:
        return value
    if isinstance(value, str):
        return redactor(value)
    if isinstance(value, dict):
        return {k: v if k in _NEVER and isinstance(v, str) else redacted(v, redactor) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(part, redactor) for part in value)
    return value
