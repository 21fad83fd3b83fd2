"""What a message tells has happened: decisions, requirements, code changes, errors and fixes, steps, feedback (D1).

Pure rules over one message and the one before it, in English and Chinese; no model, no clock. They
read for precision: what is asked, supposed, planned, suggested or quoted has not happened.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from shared_core.values import Message
from shared_core.writing import event_words as words
from shared_core.writing.extraction.clauses import in_earnest, is_chinese

REQUIREMENT, DECISION, CODE_CHANGE, ERROR, STEP, FEEDBACK = (
    "requirement", "decision", "code_change", "error", "step", "user_feedback",
)  # fmt: skip
_LONGEST: Final = 20_000  # longer texts are documents somebody pasted
_MOST: Final = 12  # events of one message; a list of more is a log
_TEXT: Final = 400  # characters of an event
_INLINE: Final = re.compile(r"`([^`\s][^`\n]{0,80})`")
_END: Final = re.compile(r"(?:[.!?…]+[)\"']*)(?=\s|$)|[。！？!?；\n]+")
_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\d+[.)、])\s+")


@dataclass(frozen=True, slots=True)
class Happened:
    """One event: `text` in the message's own words, `success` where it went well or badly.

    `weight` is "key" (5 of 5), "step" (4 of 5), "plain" or "feedback"; `details` holds `files` and
    `why` of a code change, and `fixed` of an error.
    """

    type: str
    text: str
    weight: str
    success: bool | None = None
    details: Mapping[str, Any] = field(default_factory=dict)


def happened(message: Message, previous: Message | None = None) -> list[Happened]:
    """The events a message tells, each once, in the order they are told.

    >>> [(e.type, e.text) for e in happened(Message(role="user", content="We decided to use Go. Any objections?"))]
    [('decision', 'We decided to use Go.')]
    >>> happened(Message(role="assistant", content="我修改了 auth.py，避免令牌过期。"))[0].details
    {'files': ['auth.py'], 'why': '避免令牌过期'}
    """
    if message.role not in ("user", "assistant"):
        return []
    found: dict[str, Happened] = {}
    text = in_earnest(_INLINE.sub(r"\1", message.text[:_LONGEST]))
    told = list(_sentences(text))
    heard = _feedback(told, text, message, previous)
    if heard is not None:
        found[heard.text] = heard
    for place, (sentence, asks) in enumerate(told):
        if asks or words.UNREAL.search(sentence) or len(sentence) > _TEXT:
            continue
        before = told[place - 1][0] if place else ""
        event = _read(sentence, before, message.role, previous)
        if event is None or (heard is not None and sentence in heard.text):
            continue
        if event.details.get("fixed") and event.text.startswith(before):
            found.pop(before, None)  # the error as it was told, before its fix
        found.setdefault(event.text, event)
    told_of = {file for event in found.values() for file in event.details.get("files", ())}
    for call in message.tool_calls:
        event = _edited(call, text)
        if event is not None and not told_of.issuperset(event.details["files"]):
            found.setdefault(event.text, event)
    return list(found.values())[:_MOST]


def _sentences(text: str) -> Iterable[tuple[str, bool]]:
    """Sentences with their end, and whether each asks."""
    start = 0
    for match in [*_END.finditer(text), None]:
        end = match.end() if match else len(text)
        piece = _BULLET.sub("", " ".join(text[start:end].split())).strip()
        if piece:
            chinese = is_chinese(piece)
            asks = (
                "?" in piece[-3:] or "？" in piece[-3:] or (words.ASKS_ZH if chinese else words.ASKS_EN).search(piece)
            )
            yield piece, bool(asks)
        start = end


def _read(sentence: str, before: str, role: str, previous: Message | None) -> Happened | None:
    """The one event of a sentence; what tells most about it is tried first."""
    rules = words.ZH if is_chinese(sentence) else words.EN
    if rules.others.search(sentence):
        return None  # somebody else's doing
    return (
        _error(sentence, before, rules, previous)
        or _decision(sentence, rules, role)
        or _requirement(sentence, rules, role)
        or _code_change(sentence, rules)
        or _step(sentence, rules)
    )


def _decision(sentence: str, rules: words.Rules, role: str) -> Happened | None:
    if not rules.decided.search(sentence) and not (role == "user" and rules.chosen.search(sentence)):
        return None
    return None if rules.undecided.search(sentence) else Happened(DECISION, sentence, "key")


def _requirement(sentence: str, rules: words.Rules, role: str) -> Happened | None:
    if role != "user" or not rules.required.search(sentence) or rules.not_required.search(sentence):
        return None
    return Happened(REQUIREMENT, sentence, "key")


def _code_change(sentence: str, rules: words.Rules) -> Happened | None:
    files = list(dict.fromkeys(words.FILE.findall(sentence)))
    if not (files or rules.code.search(sentence)) or not rules.changed.search(sentence):
        return None
    if rules.not_yet.search(sentence):
        return None
    details: dict[str, Any] = {"files": files} if files else {}
    if why := rules.why.search(sentence):
        details["why"] = why["why"].strip(" ，,。.!！;；")
    return Happened(CODE_CHANGE, sentence, "key", details=details)


def _error(sentence: str, before: str, rules: words.Rules, previous: Message | None) -> Happened | None:
    wrong = rules.error.search(sentence) is not None
    mended = rules.fixed.search(sentence) is not None and not rules.not_fixed.search(sentence)
    if rules.not_yet.search(sentence):
        return None
    if mended and not wrong and rules.error.search(before) and not rules.life.search(before):
        return Happened(ERROR, f"{before} {sentence}"[:_TEXT], "key", True, {"fixed": True})
    if mended and not wrong and previous is not None and rules.it_fixed.search(sentence):
        wrong = rules.error.search(previous.text[-2_000:]) is not None
    if not wrong or rules.life.search(sentence):
        return None
    if mended:
        return Happened(ERROR, sentence, "key", True, {"fixed": True})
    if not rules.hit.search(sentence) or not rules.fault.search(sentence) or _step(sentence, rules):
        return None
    return Happened(ERROR, sentence, "plain", False)


def _step(sentence: str, rules: words.Rules) -> Happened | None:
    if not rules.step.search(sentence) or not rules.result.search(sentence):
        return None
    if rules.not_yet.search(sentence):
        return None
    return Happened(STEP, sentence, "step", rules.bad.search(sentence) is None)


# ---------------------------------------------------------------------- feedback


def _feedback(told: list[tuple[str, bool]], text: str, message: Message, previous: Message | None) -> Happened | None:
    """Whether a user says how well the assistant did; a short answer to it, and not mere politeness."""
    if message.role != "user" or previous is None or previous.role not in ("assistant", "tool"):
        return None
    if not told or told[0][1] or len(text) > words.FEEDBACK_CHARS:
        return None
    rules = words.ZH if is_chinese(text) else words.EN
    said = " ".join(sentence for sentence, asks in told[:2] if not asks)
    if rules.hit.search(said) and rules.fixed.search(said):
        return None  # a report of what was wrong, and what helped
    for pattern, success in ((rules.complaint, False), (rules.praise, True)):
        if pattern.search(said):
            return Happened(FEEDBACK, said, "feedback", success)
    return None


# ---------------------------------------------------------------------- tool calls


def _edited(call: Mapping[str, Any], said: str) -> Happened | None:
    """The code change that a call of an editing tool is; why, as the assistant said with it."""
    name, args = call.get("name"), call.get("args")
    if not isinstance(name, str) or not isinstance(args, Mapping) or not words.EDITS.search(name):
        return None
    files = [args[key] for key in words.PATHS if isinstance(args.get(key), str) and words.FILE.search(args[key])]
    if not files:
        return None
    why = " ".join(said.split())[:_TEXT]
    details: dict[str, Any] = {"files": files, "tool": name}
    if why:
        details["why"] = why
    shown = ", ".join(files)
    return Happened(CODE_CHANGE, f"{name} {shown}: {why}" if why else f"{name} {shown}", "key", details=details)
