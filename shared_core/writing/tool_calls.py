"""What a tool did: its call as a line, whether it failed, the files it changed. Pure."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Final

_FAILED: Final = re.compile(
    r"^\W*(?:\w+(?:error|exception)\b|error\b|exception\b|traceback\b|fatal\b|failed\b|failure\b|command failed"
    r"|permission denied|timed? ?out\b|错误|出错|失败|异常|报错|超时|无权限)"
    r"|\n\w+(?:Error|Exception): |\bexit(?:ed)?(?: with)?(?: code| status)?:? ?[1-9]\d*\b|\bnon-zero exit",
    re.IGNORECASE,
)
_NOT_FAILED: Final = re.compile(r"^\W*(?:errors?|failures?|failed|错误|失败)\W{0,3}(?:0|none|无|没有)\b", re.IGNORECASE)
_LONGEST: Final = 60


def failed(text: str, payload: Mapping[str, Any] | None = None) -> bool:
    """Whether the answer of a tool tells of a failure: by its framework's mark, by JSON, or by its words.

    >>> failed("TypeError: x is None"), failed("错误：文件不存在"), failed("0 errors"), failed('{"ok": false}')
    (True, True, False, True)
    """
    status = (payload or {}).get("status")
    if status in ("error", "success"):
        return bool(status == "error")
    if text.lstrip().startswith("{"):
        try:
            value = json.loads(text)
        except ValueError:
            value = None
        if isinstance(value, Mapping):
            return bool(value.get("error")) or value.get("ok", value.get("success", True)) is False
    head = text[:2_000]
    return _FAILED.search(head) is not None and _NOT_FAILED.search(head) is None


def called(call: Any) -> str:
    """A tool call as one line.

    >>> called({"name": "search", "args": {"query": "tea", "k": 2}})
    'search(query=tea, k=2)'
    """
    if not isinstance(call, Mapping):
        return ""
    args = call.get("args")
    if isinstance(args, Mapping):
        shown = ", ".join(f"{key}={_short(value)}" for key, value in args.items())
    else:
        shown = "" if args is None else _short(args)
    return f"{call.get('name') or 'tool'}({shown})"


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    text = " ".join(text.split())
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
