"""MemDaily: what a person tells an assistant in a day, in Chinese, with a question or more on each trajectory.

A trajectory is measured alone, and again among messages of other trajectories: at ×10 its messages are a
tenth of all. As in the set's own benchmark the noise is spread between them; its places are drawn from a
seed, the same each run.

Zhang et al., "MemSim: A Bayesian Simulator for Evaluating Memory of LLM-based Personal Assistants" (2024).
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.evaluation.sets import Part, Question, Sample, Samples, evenly
from shared_core.evaluation.times import read_time
from shared_core.formats.conversation import as_name
from shared_core.values import Message

NOISE = (10, 20, 100)
SEED = 20240229
_NUMBERED = re.compile(r"^\d+[_-]")


@dataclass(frozen=True)
class Trajectory:
    """Messages in order, what a peer stores of each, and the questions."""

    name: str
    kind: str
    messages: tuple[Message, ...]
    texts: tuple[str, ...]
    questions: tuple[Question, ...]
    skipped: int


def matches(document: Any) -> bool:
    """Whether a document holds trajectories.

    >>> matches([{"tid": 1, "message_list": []}]), matches({"simple": {"roles": []}})
    (True, False)
    """
    return next(_walk(document, ()), None) is not None


def read(documents: Sequence[tuple[str, Any]], noise: Sequence[int] = NOISE, limit: int | None = None) -> list[Part]:
    """A part without noise, and one for each amount of it."""
    found = [
        _trajectory(raw, path)
        for name, document in documents
        for raw, path in _walk(document, () if isinstance(document, dict) else (_NUMBERED.sub("", name),))
    ]
    if any(times < 2 for times in noise):
        raise InvalidInput(f"noise is how many times the messages, from 2; not {min(noise)}")
    chosen = [found[place] for place in evenly(len(found), limit)]
    questions = [(each.name, question) for each in chosen for question in each.questions]
    # As messages with their texts, in one list: a trajectory's own are left out when its noise is drawn.
    pool = [
        (each.name, message, text) for each in found for message, text in zip(each.messages, each.texts, strict=True)
    ]
    parts = []
    for times in (1, *noise):
        noisy = f", ×{times} with other trajectories' messages" if times > 1 else ""
        samples = Samples(len(chosen), _Noisy(chosen, pool, times))
        how = "messages of one trajectory" + (f" among {times} times as many" if times > 1 else "")
        parts.append(Part("memdaily", f"MemDaily{noisy}", samples, questions, how, spread_over="kind of question"))
    return parts


class _Noisy:
    """Makes the sample of a trajectory when it is needed: at ×100 all of them together would not fit."""

    def __init__(self, chosen: Sequence[Trajectory], pool: Sequence[tuple[str, Message, str]], times: int) -> None:
        self._chosen = chosen
        self._pool = pool
        self._times = times

    def __call__(self, place: int) -> Sample:
        own = self._chosen[place]
        told = list(zip(own.messages, own.texts, strict=True))
        rng = random.Random(f"{SEED} {self._times} {own.name}")
        wanted = (self._times - 1) * len(told)
        drawn = self._draw(rng, own.name, wanted)
        places = sorted(rng.sample(range(len(told) + len(drawn)), len(told)))
        for where, pair in zip(places, told, strict=True):
            drawn.insert(where, pair)
        texts = {str(message.id): text for message, text in drawn}
        sessions = {"messages": tuple(message for message, _ in drawn)}
        return Sample(own.name, sessions, own.questions, own.skipped, group=own.kind, texts=texts)

    def _draw(self, rng: random.Random, own: str, wanted: int) -> list[tuple[Message, str]]:
        if not wanted:
            return []
        spare = rng.sample(range(len(self._pool)), min(len(self._pool), wanted + 200))
        found = [self._pool[place] for place in spare if self._pool[place][0] != own][:wanted]
        return [(message.model_copy(update={"id": f"{name}/{message.id}"}), text) for name, message, text in found]


def _walk(document: Any, path: tuple[str, ...]) -> Iterator[tuple[Mapping[str, Any], tuple[str, ...]]]:
    """Every trajectory in lists and objects inside each other, with the keys on the way to it."""
    if isinstance(document, dict):
        if isinstance(document.get("message_list"), list):
            yield document, path
            return
        for key, inner in document.items():
            if isinstance(inner, dict | list):
                yield from _walk(inner, (*path, str(key)))
    elif isinstance(document, list):
        for inner in document:
            if isinstance(inner, dict | list):
                yield from _walk(inner, path)


def _trajectory(raw: Mapping[str, Any], path: tuple[str, ...]) -> Trajectory:
    name = "/".join((*path, str(raw.get("tid", ""))))
    messages, texts = [], []
    for place, entry in enumerate(_flat(raw["message_list"])):
        message, text = _message(entry, place, name)
        messages.append(message)
        texts.append(text)
    ids = [str(message.id) for message in messages]
    if len(set(ids)) < len(ids):
        raise InvalidInput(f"{name}: two messages with the same mid")
    entries = raw.get("question_list", raw.get("QA"))
    entries = entries if isinstance(entries, list) else [entries] if isinstance(entries, dict) else []
    questions, skipped = [], 0
    for entry in entries:
        evidence = _evidence(entry.get("target_step_id"), ids)
        if evidence and entry.get("question"):
            kind = as_name(entry.get("type") or entry.get("question_type")) or (path[0] if path else "")
            asked_at = read_time(entry.get("time"))
            answer = as_name(entry.get("answer")) or ""
            questions.append(Question(str(entry["question"]), evidence, kind, asked_at, answer=answer))
        else:
            skipped += 1
    # A blank message is in the list so that steps count it, and nobody remembers it.
    told = [(message, text) for message, text in zip(messages, texts, strict=True) if message.text.strip()]
    kind = path[0] if path else "all"
    return Trajectory(name, kind, tuple(m for m, _ in told), tuple(t for _, t in told), tuple(questions), skipped)


def _flat(value: Any) -> Iterator[Any]:
    if isinstance(value, list):
        for inner in value:
            yield from _flat(inner)
    else:
        yield value


def _message(entry: Any, place: int, name: str) -> tuple[Message, str]:
    """A message with its place in brackets, and the same with its time, as the set's own benchmark writes both."""
    if isinstance(entry, str):  # the set's own noisy files
        return Message(role="user", content=entry, id=str(place)), entry
    if not isinstance(entry, dict):
        raise InvalidInput(f"{name}: a message is an object with `message`, not {type(entry).__name__}")
    text = str(entry.get("message") or entry.get("text") or "")
    id = as_name(entry.get("mid"))
    time, spot = as_name(entry.get("time")), as_name(entry.get("place"))
    where = f" (消息地点 {spot})" if spot and text else ""
    both = ", ".join(part for part in (spot and f"消息地点 {spot}", time and f"消息时间 {time}") if part)
    created_at = read_time(entry.get("time"))
    message = Message(role="user", content=f"{text}{where}", id=id if id else str(place), created_at=created_at)
    return message, f"{text} ({both})" if both and text else text


def _evidence(raw: Any, ids: Sequence[str]) -> tuple[str, ...]:
    """Steps are message ids; where they are not all known, they are places in the list, from 0."""
    steps = [as_name(step) for step in _flat(raw)]
    named = [step for step in steps if step is not None]
    if not all(step in ids for step in named) and all(step.isdecimal() and int(step) < len(ids) for step in named):
        named = [ids[int(step)] for step in named]
    return tuple(dict.fromkeys(step for step in named if step in ids))
