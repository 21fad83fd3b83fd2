"""The vault: what tokens stand for, sealed, for whoever may see it again (E1).

A token is a keyed hash of its value and its scope: the same value has the same token wherever it is told
in a scope, and another in every other, so that a question can be given its tokens without a look into the
database. The values lie in `vault`, each sealed under its own token, and go with the last text that
mentions it, at the latest when the database is purged.
"""

from __future__ import annotations

import hmac
from collections.abc import Callable, Iterable, Mapping
from typing import Final

from shared_core.ports import Transaction
from shared_core.store import sealing
from shared_core.store.rows import Draft
from shared_core.writing.redaction.spans import LETTERS, TOKEN, TOKEN_LENGTH

_FEW: Final = 4  # tokens looked for one by one; more of them in one pass over all texts


class Tokens:
    """Puts tokens in the place of values, and holds what they stand for until it is written with the texts."""

    def __init__(self, secret: bytes, user: str, agent: str, *, keeps: bool = True) -> None:
        """Without `keeps` nothing is held: for questions, and for comparing."""
        self._secret, self._owner, self._keeps = secret, f"{len(user)}:{user}{agent}", keeps
        self.held: dict[str, bytes] = {}

    def __call__(self, kind: str, value: str) -> str:
        """The token of a value."""
        made = token(self._secret, self._owner, kind, value)
        if self._keeps and made not in self.held:
            self.held[made] = sealing.seal(value.encode("utf-8", "surrogatepass"), self._secret, _purpose(made))
        return made

    def taken(self) -> dict[str, bytes] | None:
        """What is held, for whoever writes it; nothing is held any more."""
        held, self.held = self.held, {}
        return held or None


def token(secret: bytes, owner: str, kind: str, value: str) -> str:
    """What stands for a value in the texts of its owner.

    >>> token(b"k" * 32, "5:alicedefault", "email", "a@example.com") == token(b"k" * 32, "3:bobdefault", "email", "a@example.com")
    False
    """
    content = f"vault\x1f{len(owner)}:{owner}{kind}\x1f{value}".encode("utf-8", "surrogatepass")
    number = int.from_bytes(hmac.digest(secret, content, "sha256"), "big")
    letters = []
    for _ in range(TOKEN_LENGTH):
        number, place = divmod(number, len(LETTERS))
        letters.append(LETTERS[place])
    return f"[{kind}:{''.join(letters)}]"


def _purpose(token: str) -> str:
    return f"vault {token}"


def keep(tx: Transaction, scope: int, held: Mapping[str, bytes] | None, now: int) -> None:
    """Write what tokens stand for; those that are known stay as they are."""
    if held:
        tx.many("add_vault", [(scope, each, sealed, now) for each, sealed in held.items()])


def keep_of(tx: Transaction, scope: int, drafts: Iterable[Draft], now: int) -> None:
    """Write what the tokens of records stand for, with the records."""
    for item in drafts:
        keep(tx, scope, item.secrets, now)


def revealed(tx: Transaction, scope: int, secret: Callable[[], bytes], text: str) -> str:
    """A text with the values in the place of their tokens; a token that is unknown here stays.

    Raises `StoreDamaged` for a row that was changed.
    """
    known: dict[str, str] = {}
    for each in dict.fromkeys(TOKEN.findall(text)):
        for row in tx.rows("vault_secret", (scope, each)):
            value = sealing.opened(bytes(row[0]), secret(), _purpose(each))
            known[each] = value.decode("utf-8", "surrogatepass")
    return TOKEN.sub(lambda found: known.get(found[0], found[0]), text) if known else text


# ---------------------------------------------------------------------- letting go


def mentioned(item: Draft) -> set[str]:
    """The tokens in a record."""
    triple = "" if item.triple is None else "\n".join(item.triple)
    return _tokens((item.text, item.metadata, item.body, item.entities, triple))


def listed(item: Draft) -> str | None:
    """The tokens in a record, as one text; None where there are none."""
    return " ".join(sorted(mentioned(item))) or None


def _tokens(texts: Iterable[str | None]) -> set[str]:
    return {found for text in texts if text and ":" in text for found in TOKEN.findall(text)}


def holds(tx: Transaction, scope: int) -> bool:
    """Whether a scope has anything in the vault."""
    return bool(tx.rows("any_vault", {"scope": scope}))


def release(tx: Transaction, scope: int, tokens: Iterable[str]) -> int:
    """Let go of those of these tokens that no text of the scope mentions any more; how many."""
    wanted = set(tokens)
    if not wanted:
        return 0
    if len(wanted) <= _FEW:
        gone = {each for each in wanted if not _texts(tx, scope, f"%{each[-TOKEN_LENGTH - 1 : -1]}%", 1)}
    else:
        gone = wanted - {each for row in _texts(tx, scope, "%:%]%", -1) for each in _tokens(row)}
    tx.many("drop_vault", [(scope, each) for each in sorted(gone)])
    return len(gone)


def _texts(tx: Transaction, scope: int, part: str, limit: int) -> list[tuple[str | None, ...]]:
    return tx.rows("vault_mentions", {"scope": scope, "part": part, "limit": limit})


def sweep(tx: Transaction) -> int:
    """Let go of everything in the vault that no text mentions, in all scopes; how many."""
    known: dict[int, list[str]] = {}
    for scope, each in tx.rows("vault_tokens"):
        known.setdefault(scope, []).append(each)
    return sum(release(tx, scope, tokens) for scope, tokens in known.items())
