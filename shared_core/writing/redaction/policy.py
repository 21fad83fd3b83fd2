"""What is done with private data: masked, kept as a token of the vault, or refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from shared_core.errors import InvalidInput
from shared_core.ports import Redactor
from shared_core.settings import Redaction as Settings
from shared_core.writing.redact import redacted
from shared_core.writing.redaction.detect import Hook, find
from shared_core.writing.redaction.spans import KINDS, PLACEHOLDER, Span, label, replaced

Put = Callable[[str, str], str]
"""What stands in the place of a value: gets its kind and the value."""

_KEYS: Final = {
    "password": frozenset("password passwd pwd passphrase passcode pin psw 密码 口令 支付密码 登录密码".split()),
    "api_key": frozenset(
        "apikey api_key secret secret_key client_secret access_key secret_access_key private_key token access_token auth_token refresh_token "
        "bearer authorization credential credentials 密钥 令牌".split()
    ),
    "phone": frozenset("phone mobile tel telephone cell cellphone phone_number mobile_number 手机 手机号 电话 联系电话".split()),
    "bank_card": frozenset("card card_number bank_card credit_card card_no 银行卡 卡号 银行卡号".split()),
}  # fmt: skip
_LEAD: Final = {"password": "password: ", "api_key": "", "phone": "phone ", "bank_card": "card "}


@dataclass(frozen=True, slots=True)
class Redaction:
    """The redactor that `settings.redaction` describes; a plain callable for whoever stores a text.

    `put` says what stands in the place of a value, by default its label; `refuses` raises instead.
    """

    kinds: tuple[str, ...] = KINDS
    hook: Hook | None = None
    custom: Redactor | None = None
    put: Put | None = None
    refuses: bool = False

    def __call__(self, text: str) -> str:
        """The text without what is private in it; what is a placeholder already stays."""
        spans = find(text, self.kinds, self.hook) if text else []
        if spans and self.refuses:
            raise refusal(spans)
        if spans:
            text = replaced(text, spans, self._put)
        return text if self.custom is None else self.custom(text)

    def under(self, key: str, value: str) -> str:
        """The value of a key in a dict: what the key calls a password is one, whatever it looks like."""
        kind = next((kind for kind in _KEYS if key.lower().replace("-", "_") in _KEYS[kind]), None)
        found = self(value)
        if kind is None or kind not in self.kinds or found != value or not value.strip() or found == label(kind):
            return found
        if kind in ("password", "api_key"):
            if any(char.isspace() for char in value.strip()) or find(value, KINDS) or _is_placeholder(value):
                return found
            span = Span(0, len(value), kind)
        else:
            lead = _LEAD[kind]
            named = [span for span in find(lead + value, (kind,)) if span.start == len(lead)]
            if not named:
                return found
            span = Span(0, named[0].end - len(lead), kind)
        if self.refuses:
            raise refusal([span])
        return replaced(value, [span], self._put)

    def _put(self, span: Span, value: str) -> str:
        return label(span.kind) if self.put is None else self.put(span.kind, value)


def _is_placeholder(value: str) -> bool:
    return PLACEHOLDER.search(value) is not None


def refusal(spans: list[Span]) -> InvalidInput:
    """The error that names what was found, and nothing of it."""
    kinds = sorted({span.kind for span in spans})
    return InvalidInput(
        f"the text holds private data ({', '.join(kinds)}) and settings.redaction.mode is 'refuse'; "
        "nothing was stored: take it out, or choose the mode 'mask' or 'vault'"
    )


def counted(value: Any, chosen: Settings) -> dict[str, int]:
    """How much private data of which kind a JSON-like value holds."""
    found: Counter[str] = Counter()

    def count(kind: str, value: str) -> str:
        found[kind] += 1
        return label(kind)

    redacted(value, Redaction(chosen.kinds, chosen.hook, put=count))
    return dict(found)
