"""Which messages go into the prompt: the newest (A1), or the newest and the weightiest (A2).

Every window keeps what a provider demands: it starts on a user message, a tool call and its
results stay together, and no call goes unanswered. History itself is never changed; a window is
a view of it, and the same history always gives the same view.

Messages are handled in units: one message, or an assistant's tool calls with all their results. A
unit is taken whole or left whole. Units form turns: a user message with all that answers it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.ports import TokenCounter
from shared_core.short_term import importance, tokens
from shared_core.values import Message

INTERRUPTED = "[interrupted: no result]"
"""The content of the tool message that stands in for a result which never came."""

SHORTEST = 16
"""Tokens: a text of this size or less is never shortened, however small the limit."""

_SHORTEST_PART = 8  # tokens: the same for the texts of a message in parts


@dataclass(slots=True)
class _Unit:
    """A message, or an assistant's calls and their results in the order they came."""

    messages: list[Message]
    unanswered: dict[int, Mapping[str, Any]] = field(default_factory=dict)  # by place among the calls
    orphan: bool = False  # a tool result that answers nothing

    @property
    def role(self) -> str:
        return self.messages[0].role


_Turn = list[_Unit]


def sliding(
    messages: Sequence[Message],
    *,
    max_turns: int | None = None,
    max_tokens: int | None = None,
    count: TokenCounter = tokens.count,
) -> list[Message]:
    """The leading system messages and the newest turns within both limits (A1), `paired`.

    Turns are kept whole, newest first, and always at least the newest one; `max_turns=0` asks for
    none and gives the system messages alone. When the newest turn alone is over `max_tokens`, its
    user message and its newest answer stay, then older answers of that turn, newest first, while
    they fit. When even those two are over, their texts are shortened (copies with `tokens.MARKER`;
    their `payload` is left out, since it holds the whole text). The result is larger than
    `max_tokens` only if the system messages, tool arguments, media and texts of up to
    `SHORTEST` tokens already are.

    Messages before the first user message don't fit a window that starts on one and are left out;
    a chat without any user message is one turn. Raises `InvalidInput` for a negative limit.

    >>> chat = [Message(role="system", content="Be brief.")]
    >>> for n in range(3):
    ...     chat += [Message(role="user", content=f"q{n}"), Message(role="assistant", content=f"a{n}")]
    >>> [message.text for message in sliding(chat, max_turns=1)]
    ['Be brief.', 'q2', 'a2']
    >>> [message.text for message in sliding(chat, max_turns=0)]
    ['Be brief.']
    """
    _not_negative(max_turns=max_turns, max_tokens=max_tokens)
    system, turns = _readable(messages)
    if max_turns is not None:
        turns = turns[len(turns) - min(max_turns, len(turns)) :]
    if max_tokens is None or not turns:
        return system + _flat(turns)
    cost = _Costs(count)
    room = max_tokens - cost.of(system)
    start = len(turns) - 1
    left = room - cost.turn(turns[start])
    if left < 0:
        return system + _squeezed(turns[-1:], room, cost)
    while start > 0 and (price := cost.turn(turns[start - 1])) <= left:
        start, left = start - 1, left - price
    return system + _flat(turns[start:])


def by_importance(
    messages: Sequence[Message],
    *,
    max_tokens: int,
    keep_turns: int = 2,
    weigh: Callable[[Message], float] = importance.weigh,
    count: TokenCounter = tokens.count,
) -> list[Message]:
    """The whole chat if it fits; else the newest `keep_turns` turns and the weightiest before them (A2).

    Older units are taken greedily into what is left: system messages first, small talk last (A3),
    between them by `weigh` (a call and its results by the weightiest of them), the newer of
    equals first. An answer is taken together with its question, so that it never stands alone.
    The result is in the original order and `paired`. The newest turn is always among those kept;
    when the kept turns alone are over the limit they are reduced as `sliding` reduces its newest.

    Raises `InvalidInput` for a negative limit.

    >>> chat = [Message(role="user", content="Remember: I live at 5 Elm Road")]
    >>> for n in range(9):
    ...     chat += [Message(role="assistant", content="Thanks!"), Message(role="user", content=f"Story {n}, please.")]
    >>> [message.text for message in by_importance(chat, max_tokens=40)]
    ['Remember: I live at 5 Elm Road', 'Story 7, please.', 'Thanks!', 'Story 8, please.']
    """
    _not_negative(max_tokens=max_tokens, keep_turns=keep_turns)
    system, turns = _readable(messages)
    if not turns:
        return system
    cost = _Costs(count)
    room = max_tokens - cost.of(system)
    if sum(map(cost.turn, turns)) <= room:
        return system + _flat(turns)
    older, newest = turns[: -max(1, keep_turns)], turns[-max(1, keep_turns) :]
    left = room - sum(map(cost.turn, newest))
    if left < 0:
        return system + _squeezed(newest, room, cost)
    return system + _flat(_weightiest(older, left, weigh, cost) + newest)


def paired(messages: Sequence[Message]) -> list[Message]:
    """The history as a provider accepts it: each call with all its results, each result with its call (R02).

    - A result follows its call directly; one that came late, after another message, moves up to it.
    - A result without a call before it, or a second one for the same call, is left out.
    - A call without a result gets a tool message `INTERRUPTED` after the results it has.
    - Only a call that is the very last thing in the history and has no result at all stays as it
      is: its tools are running, and a stand-in would tell the agent that they failed.

    The same history gives the same list, and that list gives itself.

    >>> call = {"id": "c1", "name": "search", "args": {}}
    >>> chat = [Message(role="assistant", tool_calls=(call,)), Message(role="user", content="hello?")]
    >>> [(message.role, message.text) for message in paired(chat)]
    [('assistant', ''), ('tool', '[interrupted: no result]'), ('user', 'hello?')]
    """
    return _flat([_answered(_units(messages))])


def turns(messages: Sequence[Message]) -> list[list[Message]]:
    """The chat as turns: each a user message with all that answers it.

    Leading system messages belong to no turn and are left out. Messages before the first user
    message form a first group of their own. A late tool result is in the turn of its call;
    otherwise the order is kept and nothing is added or dropped.

    >>> chat = [Message(role=role, content=role) for role in ("system", "assistant", "user", "assistant", "user")]
    >>> [[message.role for message in turn] for turn in turns(chat)]
    [['assistant'], ['user', 'assistant'], ['user']]
    """
    _, body = _lead(_units(messages))
    return [_flat([turn]) for turn in _turns(body)]


def split(
    messages: Sequence[Message],
    *,
    keep_turns: int | None = None,
    keep_messages: int | None = None,
    keep_tokens: int | None = None,
    count: TokenCounter = tokens.count,
) -> tuple[list[Message], list[Message]]:
    """What a summary may fold in, and what stays verbatim: `(older, kept)` (R03).

    Each message is in exactly one of the two, as it is. `kept` holds the leading system messages
    and the newest turns, at least one, as many as all the given limits allow; it starts on a user
    message, so a window over it drops nothing that isn't in `older`. Without any limit all is kept.

    Raises `InvalidInput` for a negative limit.

    >>> chat = [Message(role=role, content=str(n)) for n, role in enumerate(["user", "assistant"] * 3)]
    >>> older, kept = split(chat, keep_turns=2)
    >>> [message.text for message in older], [message.text for message in kept]
    (['0', '1'], ['2', '3', '4', '5'])
    """
    _not_negative(keep_turns=keep_turns, keep_messages=keep_messages, keep_tokens=keep_tokens)
    system, body = _lead(_units(messages))
    groups = _turns(body)
    cost = _Costs(count)
    kept, size, used = 0, 0, cost.of(system) if keep_tokens is not None else 0
    for turn in reversed(groups):
        size += sum(len(unit.messages) for unit in turn)
        used += cost.turn(turn) if keep_tokens is not None else 0
        over = (
            (keep_turns is not None and kept >= keep_turns)
            or (keep_messages is not None and size > keep_messages)
            or (keep_tokens is not None and used > keep_tokens)
        )
        if over and kept:
            break
        kept += 1
    cut = len(groups) - kept
    return _flat(groups[:cut]), system + _flat(groups[cut:])


def _units(messages: Iterable[Message]) -> list[_Unit]:
    units: list[_Unit] = []
    waiting: dict[str, tuple[_Unit, list[int]]] = {}  # by call id: whose it is, which of its calls
    for message in messages:
        if message.role == "tool":
            unit, places = waiting.get(message.tool_call_id or f"\0{message.name}", (None, []))
            if unit is None or not places:
                units.append(_Unit([message], orphan=True))
                continue
            del unit.unanswered[places.pop(0)]
            unit.messages.append(message)
            continue
        unit = _Unit([message])
        units.append(unit)
        if message.role in ("user", "system"):
            continue
        for place, call in enumerate(message.tool_calls):
            unit.unanswered[place] = call
            # Some models number their calls from 0 in every message, so an id belongs to the
            # newest message that used it. A call without an id is known by its tool's name.
            key = call.get("id") or f"\0{call.get('name') or None}"
            owner, places = waiting.get(key, (None, []))
            if owner is not unit:
                waiting[key] = unit, (places := [])
            places.append(place)
    return units


def _answered(units: list[_Unit]) -> list[_Unit]:
    """The units without orphans, and with a stand-in for each result that is missing."""
    units = [unit for unit in units if not unit.orphan]
    whole: list[_Unit] = []
    for unit in units:
        running = unit is units[-1] and len(unit.messages) == 1
        if unit.unanswered and not running:
            stand_ins = [_interrupted(call) for call in unit.unanswered.values()]
            unit = _Unit(unit.messages + stand_ins)
        whole.append(unit)
    return whole


def _interrupted(call: Mapping[str, Any]) -> Message:
    return Message(role="tool", content=INTERRUPTED, name=call.get("name") or None, tool_call_id=call.get("id") or None)


def _lead(units: list[_Unit]) -> tuple[list[Message], list[_Unit]]:
    start = 0
    while start < len(units) and units[start].role == "system":
        start += 1
    return _flat([units[:start]]), units[start:]


def _turns(units: Iterable[_Unit]) -> list[_Turn]:
    grouped: list[_Turn] = []
    for unit in units:
        if unit.role == "user" or not grouped:
            grouped.append([])
        grouped[-1].append(unit)
    return grouped


def _readable(messages: Sequence[Message]) -> tuple[list[Message], list[_Turn]]:
    """Leading system messages and turns, paired, from the first user message on if there is one."""
    system, body = _lead(_answered(_units(messages)))
    grouped = _turns(body)
    if len(grouped) > 1 and grouped[0][0].role != "user":
        del grouped[0]
    return system, grouped


def _flat(turns: Iterable[_Turn]) -> list[Message]:
    return [message for turn in turns for unit in turn for message in unit.messages]


class _Costs:
    """What messages cost, each counted once: counting is the dear part of a window."""

    def __init__(self, count: TokenCounter) -> None:
        self.count = count
        self._known: dict[int, int] = {}  # by identity; the messages outlive the call that counts them

    def of(self, messages: Iterable[Message]) -> int:
        return sum(self._message(message) for message in messages)

    def turn(self, turn: _Turn) -> int:
        return sum(self.of(unit.messages) for unit in turn)

    def _message(self, message: Message) -> int:
        cost = self._known.get(id(message))
        if cost is None:
            cost = self._known[id(message)] = tokens.count_message(message, self.count)
        return cost


def _weightiest(turns: list[_Turn], room: int, weigh: Callable[[Message], float], cost: _Costs) -> list[_Turn]:
    """Of the older turns, the units that deserve the room, each answer with its question."""
    ranked = []
    for t, turn in enumerate(turns):
        for u, unit in enumerate(turn):
            level = max(map(importance.retention, unit.messages))
            ranked.append((level, max(map(weigh, unit.messages)), t, u))
    ranked.sort(reverse=True)
    taken: set[tuple[int, int]] = set()
    for _, _, t, u in ranked:
        needed = {(t, u)} if turns[t][u].role == "system" else {(t, 0), (t, u)}
        needed -= taken
        price = sum(cost.of(turns[t][u].messages) for t, u in needed)
        if price <= room:
            taken |= needed
            room -= price
    return [[unit for u, unit in enumerate(turn) if (t, u) in taken] for t, turn in enumerate(turns)]


def _squeezed(turns: list[_Turn], room: int, cost: _Costs) -> list[Message]:
    """Of turns that don't fit: each question and newest answer, then what else fits; else shortened."""
    kept: set[int] = set()
    for turn in turns:
        # A turn is a question and its answers; in a chat without questions only the answers.
        answers = [unit for unit in turn if unit.role != "system"]
        kept.update(id(unit) for unit in turn if unit.role == "user" or unit is answers[-1])
    units = [unit for turn in turns for unit in turn]
    left = room - sum(cost.of(unit.messages) for unit in units if id(unit) in kept)
    if left < 0:
        return _shortened(_flat([[unit for unit in units if id(unit) in kept]]), room, cost)
    others = [unit for unit in reversed(units) if id(unit) not in kept]
    others.sort(key=lambda unit: unit.role != "system")  # instructions outlive the rest (A3)
    for unit in others:
        left -= cost.of(unit.messages)
        if left < 0:
            break
        kept.add(id(unit))
    return _flat([[unit for unit in units if id(unit) in kept]])


def _shortened(messages: list[Message], room: int, cost: _Costs) -> list[Message]:
    """The same messages with their longest texts cut to one length, so that all fit into `room`."""
    texts = [_text_cost(message, cost.count) for message in messages]
    level = max(SHORTEST, _level(texts, room - cost.of(messages) + sum(texts)))
    return [
        _cut(message, level, cost.count) if text > level else message
        for message, text in zip(messages, texts, strict=True)
    ]


def _level(costs: list[int], room: int) -> int:
    """The height at which `costs`, each cut to it, add up to at most `room`."""
    level = 0
    for n, price in enumerate(sorted(costs)):
        level = max(0, room) // (len(costs) - n)
        if price > level:
            return level
        room -= price
    return level


def _text_cost(message: Message, count: TokenCounter) -> int:
    return sum(count(text) for part in _parts(message) if (text := _text(part)) is not None)


def _cut(message: Message, max_tokens: int, count: TokenCounter) -> Message:
    # The payload holds the framework's own copy of the whole text and would bring it back.
    if isinstance(message.content, str):
        return message.model_copy(
            update={"content": tokens.shorten(message.content, max_tokens, count), "payload": None}
        )
    parts = _without_middle(_parts(message), max(1, max_tokens // _SHORTEST_PART))
    level = _level([count(_text(part) or "") for part in parts], max_tokens)
    return message.model_copy(update={"content": [_with_text(part, level, count) for part in parts], "payload": None})


def _parts(message: Message) -> Sequence[Any]:
    content = message.content
    return [content] if isinstance(content, str | Mapping) else content or ()


def _without_middle(parts: Sequence[Any], most: int) -> list[Any]:
    """The parts without the texts in the middle, if there are more texts than can be shortened to anything."""
    texts = [place for place, part in enumerate(parts) if _text(part) is not None]
    dropped = set(texts[most // 2 : len(texts) - (most - most // 2)]) if len(texts) > most else set()
    return [part for place, part in enumerate(parts) if place not in dropped]


def _text(part: object) -> str | None:
    """The text of a part that may be shortened, None for any other part."""
    if isinstance(part, str):
        return part
    if (
        isinstance(part, Mapping)
        and part.get("type", "text") in tokens.TEXT_PARTS
        and isinstance(part.get("text"), str)
    ):
        return str(part["text"])
    return None


def _with_text(part: Any, max_tokens: int, count: TokenCounter) -> Any:
    text = _text(part)
    if text is None:
        return part
    short = tokens.shorten(text, max_tokens, count)
    return short if isinstance(part, str) else {**part, "text": short}


def _not_negative(**limits: int | None) -> None:
    for name, limit in limits.items():
        if limit is not None and limit < 0:
            raise InvalidInput(f"{name} is {limit}; give 0 or more, or None for no limit")
