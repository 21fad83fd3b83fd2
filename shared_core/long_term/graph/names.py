"""When two spellings are one name: the keys of entities and predicates.

Only spelling decides here (case, width, spaces), never likeness: "ACME" and "ACME Labs" are two
things, and so are "App v1" and "App v2". What else is one thing is told, by an alias or a merge.
"""

from __future__ import annotations

import re
import unicodedata

from shared_core.errors import InvalidInput, InvalidType, LimitExceeded
from shared_core.recall.text import clean, is_blank, normal, terms

# Han and kana: written without spaces, so that a space between them says nothing. Hangul has real ones.
UNSPACED = "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_BESIDE_UNSPACED = re.compile(rf"(?<=[{UNSPACED}]) | (?=[{UNSPACED}])")
_HAS_UNSPACED = re.compile(rf"[{UNSPACED}]")
_CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z][a-z])")
_JOINTS = re.compile(r"[\s_\-]+")
_EXACT = "\x1f="  # can't begin a key: control characters are taken out of names


def shown(name: str) -> str:
    """A name as it is kept: one line, single spaces, no control or invisible format characters.

    >>> shown("  Zhang\\n San\\u200b ")
    'Zhang San'
    """
    if name.isascii() and name.isprintable() and "  " not in name:
        return name.strip()
    text = "".join(" " if c.isspace() else c for c in name if c.isspace() or unicodedata.category(c)[0] != "C")
    return " ".join(text.split())


def entity_key(name: str) -> str:
    """Equal for the spellings of one name: NFKC, casefold, spaces collapsed, none beside Han or kana.

    >>> entity_key(" acme ") == entity_key("ＡＣＭＥ") == "acme"
    True
    >>> entity_key("张 伟") == entity_key("张伟"), entity_key("张伟") == entity_key("张伟民")
    (True, False)
    """
    if name.isascii() and name.isprintable():
        return " ".join(name.lower().split())
    key = " ".join(shown(normal(name)).split())
    return _BESIDE_UNSPACED.sub("", key)


def exact_key(name: str) -> str:
    """The key of one spelling alone: what a spelling gets when it is split off its name."""
    return _EXACT + name


def predicate_key(predicate: str) -> str:
    """Equal for the spellings of one predicate.

    >>> predicate_key("works at") == predicate_key("WORKS_AT") == predicate_key("worksAt") == "works_at"
    True
    """
    return _JOINTS.sub("_", entity_key(_CAMEL.sub(" ", predicate))).strip("_") or entity_key(predicate)


def has_unspaced(text: str) -> bool:
    """True where a text holds Han or kana."""
    return not text.isascii() and bool(_HAS_UNSPACED.search(text))


def stem(word: str) -> str:
    """The stem of one lower-case word; a stop word is its own.

    >>> stem("projects"), stem("uses"), stem("at")
    ('project', 'use', 'at')
    """
    found = terms(word)
    return found[0] if found else word


def checked(value: object, what: str, longest: int) -> str:
    """A name as it is kept; raises for what can't be one, before anything is written."""
    if not isinstance(value, str):
        raise InvalidType(f"{what} is a text, not {type(value).__name__}; use str({value!r})")
    if is_blank(value):
        raise InvalidInput(f"{what} is blank; give a text that names it")
    name = shown(clean(value))
    if len(name) > longest:
        raise LimitExceeded(f"{what} has {len(name)} characters; limits.id_chars is {longest}")
    return name
