"""Words of any language: the one tokenizer of the memory.

Text is NFKC-normalised and case-folded. Latin words are stemmed (Snowball's English stemmer,
which is harmless to other languages since questions pass through it too), their accents folded,
stop words dropped. Scripts written without spaces give overlapping character pairs, and single
characters so that a one-character question finds them. Numbers and identifiers stay whole:
`QX-7741`, `v1.2`, `svc-alpha` and `C++` are one term each, beside their parts.

Nothing here parses operators: any user text is a legal query.
"""

from __future__ import annotations

import hashlib
import re
import threading
import unicodedata
from array import array
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain

from shared_core.errors import MissingExtra

# Scripts cut into pairs: Han, kana, Hangul (spaced, but glued to its particles), Thai, Lao, Burmese, Khmer.
_UNSPACED = (
    "\u2e80-\u2fdf\u3005-\u3007\u3021-\u3029\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
    "\u0e00-\u0eff\u1000-\u109f\u1100-\u11ff\u1780-\u17ff\uac00-\ud7a3\U00020000-\U0003ffff"
)
_LETTER = rf"[^\W_{_UNSPACED}]"
_ASCII_TOKEN = re.compile(r"[a-z0-9]+(?:[-_./+@:&#']+[a-z0-9]+)*(?:\+\+|#(?![a-z0-9]))?")
_TOKEN = re.compile(rf"[{_UNSPACED}]+|{_LETTER}+(?:[-_./+@:&#'’]+{_LETTER}+)*(?:\+\+|#(?!{_LETTER}))?")
_UNSPACED_START = re.compile(rf"[{_UNSPACED}]")
_THOUSANDS = re.compile(r"(?<=\d),(?=\d{3}(?!\d))")
_PARTS = re.compile(r"[-_./+@:&#'’]+")
_LONGEST_STEMMED = 64
_STEMMING = threading.Lock()  # PyStemmer's object keeps state between calls

ANALYZER = 1
"""Version of the terms this module gives; a database with another one is cut into words anew."""

_STOP = frozenset(
    "a about above after again all also am an and any are as at be because been before being below between both but"
    " by can could did do does doing down during each few for from further get gets getting got had has have having he"
    " her here hers herself him himself his how i if in into is it its itself just let lets me more most my myself no"
    " nor not now of off on once only or other our ours ourselves out over own please really same she should so some"
    " such than that the their theirs them themselves then there these they this those through to too under until up"
    " us very was we were what when where which while who whom whose why will with would you your yours yourself"
    " yourselves kind type many much might must shall".split()
)
_CONTRACTION = re.compile(r"(?:n't|'re|'ve|'ll|'d|'m|'s)$")
_STOP_CHARACTERS = frozenset("的了着过吗呢吧啊呀么嘛哦和与或在是我你他她它们这那就也都还又很把被让给对从到个")

# Bits of `shape`: what the ranker wants to know of a text without reading it again.
ASKS = 1  # holds a question mark
ONLY_ASKS = 2  # is one question and nothing else
ENDS_ASKING = 64  # its last sentence is a question
NUMBERS = 4  # holds a digit or a number word
TEMPORAL = 8  # holds a word of time
NAMES = 16  # two bits: names and quotations inside sentences, up to three


def clean(text: str) -> str:
    """The text without lone surrogates, which no database or model takes: each becomes U+FFFD.

    >>> clean("bad \\ud83d") == "bad \\ufffd"
    True
    """
    try:
        text.encode("utf-8")
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text


_UNSEEN = frozenset(("Cc", "Cf", "Zs", "Zl", "Zp"))
# A character newer than this Python's tables is unassigned (Cn) to it: most are emoji and Han.
_PICTOGRAPHS = frozenset(("So", "Cn", "Co"))


def is_blank(text: str) -> bool:
    """True where nothing can be seen: spaces, control and format characters only.

    >>> is_blank(" \\u200b\\ufeff\\n"), is_blank("a")
    (True, False)
    """
    text = text.strip()
    return not text or not (text[0].isalnum() or any(unicodedata.category(c) not in _UNSEEN for c in text))


def has_words(text: str) -> bool:
    """True where a text says anything: a letter, a number, or a pictograph; punctuation alone does not.

    >>> has_words("？！"), has_words("C++"), has_words("🎉")
    (False, True, True)
    """
    return any(c.isalnum() or unicodedata.category(c) in _PICTOGRAPHS for c in text)


def normal(text: str) -> str:
    """NFKC and case folding; identical for texts that look the same."""
    if text.isascii():
        return text.lower()
    return unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())


@lru_cache(maxsize=1)
def _stemmer():  # type: ignore[no-untyped-def]
    try:
        import Stemmer
    except ImportError as error:
        raise MissingExtra("PyStemmer") from error
    return Stemmer.Stemmer("english")


def _fold(word: str) -> str:
    if word.isascii():
        return word
    bare = "".join(c for c in unicodedata.normalize("NFD", word) if not unicodedata.combining(c))
    return bare if bare.isascii() else word  # only Latin letters lose their accents


def _stem(word: str) -> str:
    word = _fold(word)
    if len(word) > _LONGEST_STEMMED or not word.isascii() or not word.isalpha():
        return word
    with _STEMMING:
        return str(_stemmer().stemWord(word))


@lru_cache(maxsize=100_000)
def _word_terms(token: str) -> tuple[str, ...]:
    """The terms of one spaced token: the whole identifier, then its parts, stemmed; no stop words."""
    if token.isalnum():
        return () if token in _STOP else (_stem(token),)
    whole = token.replace("’", "'")
    if whole.endswith("'s"):
        return _word_terms(whole[:-2])
    if _CONTRACTION.search(whole):
        return (whole,)
    found = [_fold(whole)]
    for part in _PARTS.split(whole):
        if part and part not in _STOP:
            found.append(_stem(part))
    return tuple(dict.fromkeys(found))


def _run_terms(run: str) -> list[str]:
    """Overlapping pairs of a run without spaces; a pair of function characters says nothing."""
    pairs = [run[i : i + 2] for i in range(len(run) - 1)]
    return [p for p in pairs if p[0] not in _STOP_CHARACTERS or p[1] not in _STOP_CHARACTERS]


def _tokens(text: str) -> list[str]:
    text = normal(text)
    if "," in text:
        text = _THOUSANDS.sub("", text)
    return (_ASCII_TOKEN if text.isascii() else _TOKEN).findall(text)


def terms(text: str) -> list[str]:
    """The terms of a text as it is kept, in order, repeated as often as they stand there.

    >>> terms("Caroline's cats like QX-7741")
    ['carolin', 'cat', 'like', 'qx-7741', 'qx', '7741']
    >>> terms("我喜欢喝茶")
    ['我喜', '喜欢', '欢喝', '喝茶', '喜', '欢', '喝', '茶']
    """
    return list(chain.from_iterable(map(_terms_of, _tokens(text))))


def _terms_of(token: str) -> Sequence[str]:
    if token.isascii() or not _UNSPACED_START.match(token):
        return _word_terms(token)
    return _run_terms(token) + [c for c in token if c not in _STOP_CHARACTERS]


def query_terms(text: str) -> list[str]:
    """The distinct terms to look for: pairs rather than single characters, contractions last.

    >>> query_terms("Who likes 茶, and 乌龙茶?")
    ['like', '茶', '乌龙', '龙茶']
    """
    found: list[str] = []
    contractions: list[str] = []
    for token in _tokens(text):
        if not token.isascii() and _UNSPACED_START.match(token):
            found += _run_terms(token) if len(token) > 1 else [token]
            continue
        given = _word_terms(token)
        if len(given) == 1 and _CONTRACTION.search(given[0]):
            contractions += given
        else:
            found += given
    found = list(dict.fromkeys(found))
    # Only when nothing else is asked for do function words count: "don't" alone is a question too.
    return found or list(dict.fromkeys(contractions))


@lru_cache(maxsize=200_000)
def term_id(term: str) -> int:
    """A term's number: 64 bits of BLAKE2b, the same in every process."""
    return int.from_bytes(hashlib.blake2b(term.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "little")


def _ids(token: str) -> tuple[int, ...]:
    return _short_ids(token) if len(token) <= _LONGEST_STEMMED else _all_ids(token)


def _all_ids(token: str) -> tuple[int, ...]:
    return tuple(map(term_id, _terms_of(token)))


@lru_cache(maxsize=100_000)
def _short_ids(token: str) -> tuple[int, ...]:
    return _all_ids(token)


def pack(text: str) -> bytes:
    """The term ids of a text as kept in its row: 8 bytes each, with repeats."""
    return analysed(text)[0]


def analysed(text: str) -> tuple[bytes, int]:
    """The packed term ids of a text and its shape, for one cut into words."""
    tokens = _tokens(text)
    # Most texts have no token too long to remember: then a look-up each is all there is.
    ids = _short_ids if len(text) <= _LONGEST_STEMMED or max(map(len, tokens), default=0) <= _LONGEST_STEMMED else _ids
    return array("Q", chain.from_iterable(map(ids, tokens))).tobytes(), _shape(text, tokens)


_ASKS_AT_END = re.compile(r"[?？][\s\"'”’）)]*$|[吗呢][\s。.!！]*$")
_SENTENCE_END = re.compile(r"[.!?。！？]+")
_NAMES = re.compile(r"(?<=[a-z,] )[A-Z][a-z]+|[\"“《]")
_NUMBER_WORDS = frozenset(
    "one two three four five six seven eight nine ten twice couple dozen first second third".split()
)
_TEMPORAL_WORDS = frozenset(
    "yesterday today tonight tomorrow last ago next week weeks weekend weekends month months year years monday tuesday"
    " wednesday thursday friday saturday sunday january february march april june july august september october"
    " november december recently morning since soon".split()
)
_DIGIT = re.compile(r"[0-9]")
_YEAR = re.compile(r"(?<!\d)\d{4}(?!\d)")
_CHINESE_NUMBER = re.compile(r"[二两三四五六七八九十百千万]")
_CHINESE_TEMPORAL = re.compile(r"[昨前今明后]天|昨晚|[上下]周|[上下]个|[去今明]年|月|星期|周|最近|刚刚")


def shape(text: str) -> int:
    """Bit flags of a text.

    >>> shape("Where is it?") == ASKS | ONLY_ASKS | ENDS_ASKING
    True
    >>> shape("Last year we met Ann twice.") == TEMPORAL | NUMBERS | NAMES
    True
    """
    return _shape(text, _tokens(text))


def _shape(text: str, tokens: Sequence[str]) -> int:
    flags = 0
    if "?" in text or "？" in text:
        flags = ASKS
    if text[-1:] not in _PLAIN_END and _ASKS_AT_END.search(text[-12:]):
        flags |= ASKS | ENDS_ASKING
        if len(_SENTENCE_END.findall(text)) <= 1:
            flags |= ONLY_ASKS
    ascii = text.isascii()
    digits = bool(_DIGIT.search(text)) if ascii else any(map(_has_digit, tokens))
    if digits or not _NUMBER_WORDS.isdisjoint(tokens):
        flags |= NUMBERS
    if not _TEMPORAL_WORDS.isdisjoint(tokens) or (digits and _YEAR.search(text)):
        flags |= TEMPORAL
    if ascii and text[1:].islower() and '"' not in text:
        return flags  # no capital after the first letter, no quotation
    if not ascii:
        flags |= NUMBERS if _CHINESE_NUMBER.search(text) else 0
        flags |= TEMPORAL if _CHINESE_TEMPORAL.search(text) else 0
    # Scripts without capitals say nothing about names: they get what a text with one name has.
    names = 1 if not ascii and _UNSPACED_START.search(text) else 0
    return flags | NAMES * min(3, max(names, len(_NAMES.findall(text))))


_PLAIN_END = frozenset(". ! 。 ！".split())


@lru_cache(maxsize=100_000)
def _has_digit(token: str) -> bool:
    return any(map(str.isdigit, token))
