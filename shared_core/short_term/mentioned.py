"""What a conversation mentions: files, links, ids, errors, tool calls, listed items, people and things (A7).

Derived from the stored messages whenever it is asked for, so there is no second copy that could
disagree with them or outlive them. Pure functions over messages.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from shared_core.memo import of_texts
from shared_core.recall.text import terms
from shared_core.short_term import phrases as p
from shared_core.short_term.named import Named, names_in
from shared_core.values import Message, ToolUse, content_text


@dataclass(frozen=True, slots=True)
class Mention:
    """One place where a thing is named: which message, where in it, by whom, and what is said beside it."""

    message: int
    offset: int
    role: str
    beside: str

    @property
    def words(self) -> frozenset[str]:
        """The terms said beside it: cut when a phrase has words to compare."""
        return _words(self.beside)


@dataclass(slots=True)
class Thing:
    """Something mentioned: its kind, its text, what else it is called by, and where it is mentioned."""

    kind: str
    text: str
    tags: set[str] = field(default_factory=set)
    gender: str = ""
    mentions: list[Mention] = field(default_factory=list)
    use: ToolUse | None = None


Names = Callable[[str], Iterable[Named]]
"""Finds in a text the names that are known beyond it: those of the graph."""

_ENDINGS: Final = {
    "document": "pdf doc docx odt rtf txt md tex epub pages rst org html htm",
    "table": "csv tsv xls xlsx ods parquet numbers",
    "image": "png jpg jpeg gif svg webp bmp heic tiff psd",
    "slides": "ppt pptx odp keynote",
    "code": "py js ts tsx jsx java c h cpp hpp cs go rs rb php sh bash ps1 sql ipynb swift kt scala lua r css vue",
    "video": "mp4 mov avi mkv webm",
    "audio": "mp3 wav flac ogg m4a aac",
    "archive": "zip tar gz tgz rar 7z bz2 xz zst",
    "config": "json yaml yml toml ini cfg conf env xml properties lock",
    "log": "log out",
    "data": "db sqlite pkl npy jsonl feather h5",
}  # fmt: skip
_TAG: Final = {ending: tag for tag, endings in _ENDINGS.items() for ending in endings.split()}
_ENDING: Final = "|".join(sorted(_TAG, key=len, reverse=True))
_HAN: Final = "\u4e00-\u9fff"
_URL: Final = re.compile(rf"(?:https?://|ftp://|www\.)[^\s<>\"'`{_HAN}，。；、！？（）【】《》「」“”‘’\\]+", re.I)
_EMAIL: Final = re.compile(r"[A-Za-z0-9._%+-]+@[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)+")
_QUOTED: Final = re.compile(rf"[\"“'‘`「]([^\"“”'‘’`「」\n]{{1,120}}\.(?:{_ENDING}))[\"”'’`」]", re.I)
_FILE: Final = re.compile(
    rf"(?:[A-Za-z]:[\\/]|~[\\/]|\.{{1,2}}[\\/]|/)?(?:[\w.@+-]+[\\/])*[\w@+-][\w.@+-]*?\.(?:{_ENDING})(?![A-Za-z0-9_])(?!\.[A-Za-z0-9])", re.I
)  # fmt: skip
_PART: Final = rf"[\\/](?:[A-Za-z0-9_.@+-]+|[{_HAN}][\w.@+-]*)"
_FOLDER: Final = re.compile(rf"(?:(?<=[\s\"'`(:=，。：“{_HAN}])|^)(?:~|\.{{1,2}}|[A-Za-z]:)?(?:{_PART})+[\\/]?")
_TITLE: Final = re.compile(
    r"《([^》\n]{1,80})》"
    r"|\b(?:document|report|paper|file|article|proposal|contract|memo|spreadsheet|draft|notes?|book)\s+(?:called |named |titled )?[\"“]([^\"”\n]{1,80})[\"”]"
    r"|(?:文档|文件|报告|合同|文章|论文|表格)[“「]([^”」\n]{1,80})[”」]",
    re.I,
)
# Words before a file name written without a space between them: "我上传了合同.docx".
_LEAD: Final = re.compile(
    r".*(?:看一下|看一看|读一下|来自|上传了|下载了|打开|保存到|保存为|另存为|存成|存到|改成|写成|命名为|写到|放在|文件是|名为|叫做|以及|还有|另外|里的|[看读把在是叫用了到和与及、])(?=.)"
)
# The same before a name in Latin letters, where more verbs can't be a part of the name.
_LEAD_LATIN: Final = re.compile(
    rf"[{_HAN}]*(?:[看读把在是叫用了到和与及改存传发给删查见找开写跑载编为成或从我你请]|运行|执行|一下)(?=[A-Za-z0-9_.~/])"
)
_LABELS: Final = {
    "order": "order|订单", "ticket": "ticket|case|工单", "issue": "issue|bug|缺陷|问题单", "request": "pull request|merge request|PR|MR|合并请求",
    "commit": "commit|revision|提交", "invoice": "invoice|bill|发票|账单", "booking": "booking|reservation|预订|预约",
    "tracking": "tracking|shipment|parcel|快递|运单|包裹", "account": "account|账号|账户", "": "id|编号|单号|reference",
}  # fmt: skip
_LABELLED: Final = [
    (tag, re.compile(rf"(?<![A-Za-z])(?:{names})(?:[_ ]?(?:numbers?|no\.?|nr\.?|id|code|号码|单号|编号|号))?[\"']?,?\s*(?:is|是|为)?\s*[:：=]?\s*[\"']?(#?[A-Za-z0-9][A-Za-z0-9-]*)", re.I))
    for tag, names in _LABELS.items()
]  # fmt: skip
_CODES: Final = re.compile(
    r"#\d+\b|\b[A-Z][A-Z0-9]{1,9}-\d+\b|\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b|\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,40}\b"
)
_PASTED: Final = re.compile(r"^.*(?:Error|Exception)\b.*$|^\s*(?:error|错误|报错)\s*[:：].*$", re.M)
_FAILED: Final = re.compile(
    r"\s*(?:Traceback \(most recent|[\w.]*(?:Error|Exception)\b|(?:tool )?(?:error|failed|failure)\b|encountered error|错误|报错|失败|异常)",
    re.I,
)
_LISTED: Final = re.compile(
    r"^[ \t]*(?:\d{1,2}[.)、]|[-*•]|[一二三四五六七八九十]、|[（(]\d{1,2}[)）])[ \t]*(\S.*)$", re.M
)
# No name is this long. Encoded data and text without any break would cost patterns the square of its length.
_BLOB: Final = re.compile(r"[\w.@+/\\=%:#~-]{300,}")
_SENTENCE: Final = re.compile(r"[.!?](?=\s)|[。！？；\n]")
_KNOWN: Final = 50  # newest texts in which the graph's names are looked for: each costs some 4 ms
_AROUND: Final = 160  # characters on either side that may tell what a thing is


# ---------------------------------------------------------------------- tool calls


def uses(messages: Sequence[Message]) -> list[ToolUse]:
    """The tool calls of a conversation in order, each with its result or error."""
    return [use for use, _, _ in _used(messages)]


def _used(messages: Sequence[Message]) -> list[tuple[ToolUse, int, int | None]]:
    """Calls with the places of the messages that call and answer."""
    results = {message.tool_call_id: place for place, message in enumerate(messages) if message.role == "tool"}
    found: list[tuple[ToolUse, int, int | None]] = []
    answered: set[int] = set()
    for place, message in enumerate(messages):
        for call in message.tool_calls:
            at = results.get(call.get("id")) if call.get("id") is not None else None
            # An id that is used again is answered after its call.
            if at is not None and at < place:
                at = None
            answered |= {at} if at is not None else set()
            found.append((_use(call, message, None if at is None else messages[at]), place, at))
    for place, message in enumerate(messages):
        if message.role == "tool" and place not in answered:  # its call was never stored
            call = {"id": message.tool_call_id, "name": message.name or "", "args": None}
            found.append((_use(call, message, message), place, place))
    return sorted(found, key=lambda each: each[1])


def _use(call: Mapping[str, Any], asked: Message, result: Message | None) -> ToolUse:
    output = None if result is None else result.text or _told(result.content)
    error = None if result is None or output is None else failure(result, output)
    return ToolUse(
        id=call.get("id"), name=str(call.get("name") or ""), args=call.get("args"), output=output, error=error,
        at=(result or asked).created_at, message_id=(result or asked).id,
    )  # fmt: skip


def failure(message: Message, output: str) -> str | None:
    """What a tool result says went wrong; None for a result that is none of an error.

    Told by the framework's own mark (`status: "error"`, `is_error`), by JSON with an `error`, or by a
    text that begins as errors do.

    >>> failure(Message(role="tool"), "TimeoutError: no answer"), failure(Message(role="tool"), "all up")
    ('TimeoutError: no answer', None)
    """
    marked = _marked(message.payload) or _marked(message.content)
    value = _json(output)
    if isinstance(value, Mapping) and value.get("error"):
        inner = value["error"]
        return str(inner.get("message") or inner) if isinstance(inner, Mapping) else str(inner)
    if not marked and not _FAILED.match(output):
        return None
    lines = [line.strip() for line in output.splitlines() if line.strip()] or ["error"]
    return lines[-1] if lines[0].startswith("Traceback") else lines[0]


def _marked(value: Any, depth: int = 3) -> bool:
    if isinstance(value, Mapping):
        if value.get("status") == "error" or value.get("is_error") is True or value.get("isError") is True:
            return True
        return depth > 0 and any(_marked(part, depth - 1) for part in value.values())
    return isinstance(value, list | tuple) and depth > 0 and any(_marked(part, depth - 1) for part in value)


def _json(text: str) -> Any:
    if text[:1] not in "{[":
        return None
    try:
        return json.loads(text)
    except ValueError:
        return None


def _told(value: Any) -> str:
    if value is None or value == "":
        return ""
    return (
        value if isinstance(value, str) else content_text(value) or json.dumps(value, ensure_ascii=False, default=str)
    )


# ---------------------------------------------------------------------- things


def things(
    messages: Sequence[Message],
    facts: Mapping[int, Iterable[Named]] | None = None,
    names: Names | None = None,
    longest: int = 10_000,
    entities: bool = True,
) -> list[Thing]:
    """All that is mentioned, in the order of its first mention; without people and things unless `entities`.

    `facts` are entities that the facts read from a message name, by its place; `names` finds names that
    are known beyond this conversation. Of each message the first `longest` characters are read.
    """
    book = _Book()
    texts: list[tuple[int, str, str]] = []
    outputs = {}
    for use, place, at in _used(messages):
        title = use.name.replace("_", " ").replace("-", " ")
        called = json.dumps(use.args, ensure_ascii=False, default=str) if use.args not in (None, {}, "") else ""
        book.add(p.TOOL, use.name, {"tool"}, Mention(place, 0, "assistant", f"{title} {called[:200]}"), use=use)
        _find(book, place, "assistant", called[:longest].replace("\\\\", "\\"), title)
        if at is not None:
            outputs[at] = (use, title)
    for place, message in enumerate(messages):
        text = (message.text or (_told(message.content) if message.role == "tool" else ""))[:longest]
        use_, title = outputs.get(place, (None, ""))
        if use_ is not None and use_.error is not None:
            beside = f"{title} {use_.error} {json.dumps(use_.args, ensure_ascii=False, default=str)[:200]}"
            book.add(p.ERROR, use_.error, {"error"}, Mention(place, 0, "tool", beside), use=use_)
        elif message.role != "system" and text:
            _find(book, place, message.role, text, title)
        if message.role in ("user", "assistant") and text:
            texts.append((place, message.role, _without_blobs(text)))
    if entities:
        _entities(book, texts, facts or {}, names)
    return book.things()


class _Book:
    """Things by their kind and name; the path of a file is told apart from its bare name only if it has to be."""

    def __init__(self) -> None:
        self._things: dict[tuple[str, str], Thing] = {}

    def add(
        self, kind: str, text: str, tags: Iterable[str], mention: Mention, *, gender: str = "", use: ToolUse | None = None
    ) -> Thing:  # fmt: skip
        key = (kind, text.casefold() if use is None else f"{text}\x1f{mention.message}\x1f{use.id}")
        thing = self._things.get(key) or self._longer(kind, text)
        if thing is None:
            thing = self._things[key] = Thing(kind, text, use=use)
        thing.tags.update(tags)
        thing.gender = thing.gender or gender
        thing.mentions.append(mention)
        return thing

    def _longer(self, kind: str, text: str) -> Thing | None:
        if kind != p.FILE:
            return None
        given = text.casefold()
        for thing in reversed(self._things.values()):
            known = thing.text.casefold()
            if thing.kind != p.FILE:
                continue
            if known.endswith("/" + given) or given.endswith("/" + known):
                thing.text = max(thing.text, text, key=len)
                return thing
            if _runs_into(given, known) or _runs_into(known, given):  # "见图表.png" is 图表.png
                thing.text = min(thing.text, text, key=len)
                return thing
        return None

    def entity(self, name: str) -> Thing | None:
        return self._things.get((p.ENTITY, name.casefold()))

    def things(self) -> list[Thing]:
        for thing in self._things.values():
            thing.mentions.sort(key=lambda mention: (mention.message, mention.offset))
        return sorted(self._things.values(), key=lambda t: (t.mentions[0].message, t.mentions[0].offset))


@of_texts(8_192)
def _words(text: str) -> frozenset[str]:
    return frozenset(terms(re.sub(r"(?<=[a-z])(?=[A-Z])|_", " ", text)))


def _near(text: str, start: int, end: int, title: str) -> str:
    """The sentence a thing is named in, without itself."""
    left, right = text[max(0, start - _AROUND) : start], text[end : end + _AROUND]
    cuts = [found.end() for found in _SENTENCE.finditer(left)]
    left = left[cuts[-1] :] if cuts else left
    after = _SENTENCE.search(right)
    right = right[: after.start()] if after else right
    return f"{title} {left} {right}"


def _find(book: _Book, place: int, role: str, text: str, title: str = "") -> None:
    """Take in what one text mentions; what one pattern has read, the next ones do not read again."""
    taken = bytearray(len(text))
    for kind, tags, name, start, end in _matches(text):
        if any(taken[start:end]):
            continue
        taken[start:end] = b"x" * (end - start)
        book.add(kind, name, tags, Mention(place, start, role, _near(text, start, end, title)))
    listed = list(_LISTED.finditer(text))
    if len(listed) > 1 and role != "tool":
        for found in listed:
            name = re.sub(r"\*\*|__|`", "", found[1]).strip()
            book.add(p.ITEM, name, {"item"}, Mention(place, found.start(1), role, title))
    if role == "user":
        for found in _PASTED.finditer(_without_blobs(text)):
            book.add(p.ERROR, found[0].strip(), {"error"}, Mention(place, found.start(), role, found[0]))


def _matches(text: str) -> Iterator[tuple[str, set[str], str, int, int]]:
    for found in _URL.finditer(text):
        url = found[0].rstrip(".,;:!?)]}")
        yield p.URL, _url_tags(url), url, found.start(), found.start() + len(url)
    text = _without_blobs(text)
    for found in _EMAIL.finditer(text):
        yield p.EMAIL, {"email"}, found[0].rstrip("."), found.start(), found.end()
    for found in _QUOTED.finditer(text):
        yield p.FILE, _file_tags(found[1]), found[1], found.start(1), found.end(1)
    for found in _FILE.finditer(text):
        name = _without_lead(found[0])
        yield p.FILE, _file_tags(name), name, found.end() - len(name), found.end()
    for found in _TITLE.finditer(text):
        group = found.lastindex or 0
        yield p.FILE, {"document", "book"}, found[group].strip(), found.start(group), found.end(group)
    for found in _FOLDER.finditer(text):
        yield p.FOLDER, {"folder"}, found[0], found.start(), found.end()
    for tag, pattern in _LABELLED:
        for found in pattern.finditer(text):
            if re.search(r"\d", found[1]) and len(found[1]) > 1:
                yield p.ID, {tag, "id"}, found[1], found.start(1), found.end(1)
    for found in _CODES.finditer(text):
        yield p.ID, {"id"}, found[0], found.start(), found.end()


def _without_blobs(text: str) -> str:
    """The text with blanks in the place of encoded data; everything else stays where it is."""
    return _BLOB.sub(lambda found: " " * len(found[0]), text)


def _url_tags(url: str) -> set[str]:
    tags = {"url"}
    if re.search(r"//(?:www\.)?(?:github|gitlab|bitbucket|gitee|codeberg)\.", url, re.I):
        tags.add("repository")
    if found := re.search(rf"\.({_ENDING})(?:[?#]|$)", url, re.I):
        tags.add(_TAG[found[1].lower()])
    return tags


def _file_tags(name: str) -> set[str]:
    return {_TAG[name.rsplit(".", 1)[-1].lower()], "file"}


def _runs_into(longer: str, name: str) -> bool:
    """Whether only Chinese words, written without a space, stand before a name that is known."""
    head = longer.removesuffix(name)
    return head != longer and bool(re.fullmatch(f"[{_HAN}]{{1,8}}", head)) and name.find(".") > 1


def _without_lead(name: str) -> str:
    """A file name without the Chinese words that run into it."""
    head = re.split(r"[\\/]", name, maxsplit=1)[0]
    if not re.search(rf"[{_HAN}]", head):
        return name
    stem = head if head != name else name.rsplit(".", 1)[0]
    found = _LEAD_LATIN.match(stem) or _LEAD.match(stem)
    return name[found.end() :] if found else name


# ---------------------------------------------------------------------- people and things


def _entities(
    book: _Book, texts: Sequence[tuple[int, str, str]], facts: Mapping[int, Iterable[Named]], names: Names | None
) -> None:
    """The entities of a conversation, and every place where one of them is named."""
    known: dict[str, Named] = {}
    for age, (place, _, text) in enumerate(reversed(texts)):
        told = names(text) if names is not None and age < _KNOWN else ()
        for named in (*facts.get(place, ()), *told, *names_in(text)):
            before = known.get(named.key)
            known[named.key] = named if before is None else before.joined(named)
    # Longer names first: "Anna Berg" is no second Anna.
    ordered = sorted(known.values(), key=lambda named: -len(named.name))
    for place, role, text in texts:
        taken = [False] * len(text)
        placed: list[tuple[int, Named]] = []
        for named in ordered:
            for found in named.pattern().finditer(text):
                if not any(taken[found.start() : found.end()]):
                    taken[found.start() : found.end()] = [True] * (found.end() - found.start())
                    placed.append((found.start(), named))
                    words = _near(text, found.start(), found.end(), "")
                    book.add(
                        p.ENTITY,
                        named.name,
                        named.tags,
                        Mention(place, found.start(), role, words),
                        gender=named.gender,
                    )
        _gendered(book, text, placed)


_PRONOUN: Final = re.compile(r"\b(?:(she|her|hers)|(he|him|his))\b|(她)|((?<![其])他(?!们))", re.I)


def _gendered(book: _Book, text: str, placed: list[tuple[int, Named]]) -> None:
    """A pronoun behind a person's name tells who is a woman and who is a man."""
    # A name of which nothing is known is a person's, if "she" follows.
    people = sorted(
        ((start, named) for start, named in placed if p.PERSON in named.tags or not named.tags),
        key=lambda each: each[0],
    )
    for found in _PRONOUN.finditer(text):
        before = [named for start, named in people if start < found.start()]
        if before:
            gender = p.FEMALE if found[1] or found[3] else p.MALE
            thing = book.entity(before[-1].name)
            if thing is not None and not thing.gender:
                thing.gender = gender
                thing.tags.add(p.PERSON)
