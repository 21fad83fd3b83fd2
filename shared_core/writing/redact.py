"""The seam before everything that stores, embeds or logs: what must not be kept is taken out here.

The default keeps everything. A `Redactor` is applied to every text, and to every string inside
metadata, message content, tool calls and a framework's own dict; ids and keys are never touched.
`writing.redaction` has the one that `settings.redaction` describes.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from shared_core.ports import Redactor
from shared_core.settings import Settings

_NEVER = frozenset({"id", "tool_call_id", "type", "role", "session_id", "message_id"})

_IDS = ("_id", "_ids", "Id", "ID", "uuid")  # other systems' ids, which have to be found again

_REFERENCES = frozenset(
    "tenant thread trace run span order ticket case invoice batch ref reference hash sha md5 digest etag version commit "
    "timestamp ts created updated serial sku isbn".split()
)  # what they hold is a number or a name of something, where it is one word


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
        under = getattr(redactor, "under", None)
        return {key: _under(key, part, redactor, under) for key, part in value.items()}
    if isinstance(value, list | tuple):
        return type(value)(redacted(part, redactor) for part in value)
    return value


def _under(key: Any, value: Any, redactor: Redactor, under: Callable[[str, str], str] | None) -> Any:
    """The value of a key: an id stays, and what a key calls a password is one."""
    if not isinstance(value, str) or not isinstance(key, str):
        return redacted(value, redactor)
    if key in _NEVER or key.endswith(_IDS) or (key.lower() in _REFERENCES and value.isalnum()):
        return value
    return redactor(value) if under is None else under(key, value)


def redactor(settings: Settings) -> Redactor | None:
    """The redactor of a memory, for texts that belong to nobody in particular: what is found gets a label.

    None where nothing is to be redacted; the callable of `settings.redactor` alone where that is all.
    Raises `MissingExtra` if phones are to be found and the extra 'redaction' is not installed, or the
    vault is to be used without the extra 'encryption'.
    """
    chosen = settings.redaction
    if chosen.mode == "off":
        return settings.redactor
    from shared_core.store import sealing
    from shared_core.writing.redaction import phones
    from shared_core.writing.redaction.policy import Redaction

    if "phone" in chosen.kinds:
        phones.ready()
    if chosen.mode == "vault":
        sealing.ready()
    return Redaction(chosen.kinds, chosen.hook, settings.redactor)
