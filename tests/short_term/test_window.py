"""Windows over a history (A1, A2), and histories a provider accepts (R02, R03, R04, R11, R12, R15).

A provider refuses a prompt whose tool calls and results don't match, with an error on every later
turn: one bad window and the conversation is dead. So most tests here ask that of any history.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.errors import InvalidInput
from shared_core.short_term import tokens
from shared_core.short_term.tokens import MARKER, count, count_message
from shared_core.short_term.window import INTERRUPTED, SHORTEST, by_importance, paired, sliding, split, turns
from shared_core.values import Message


def user(text: object = "q", **fields: Any) -> Message:
    return Message(role="user", content=text, **fields)


def assistant(text: object = "a", *calls: str, **fields: Any) -> Message:
    made = tuple({"id": call, "name": "search", "args": {"q": call}} for call in calls)
    return Message(role="assistant", content=text, tool_calls=made, **fields)


def tool(call: str | None, text: object = "found", **fields: Any) -> Message:
    return Message(role="tool", content=text, tool_call_id=call, **fields)


def system(text: object = "Be brief.") -> Message:
    return Message(role="system", content=text)


def chat(n: int, *lead: Message) -> list[Message]:
    return [*lead, *(m for i in range(n) for m in (user(f"q{i}"), assistant(f"a{i}")))]


def texts(messages: Sequence[Message]) -> list[str]:
    return [message.text for message in messages]


def size(messages: Sequence[Message]) -> int:
    return sum(map(count_message, messages))


def assert_valid(messages: Sequence[Message], running: bool = True) -> None:
    """The rule of the chat APIs: after a call exactly its results, nowhere else any."""
    due: list[str | None] = []
    for message in messages:
        if message.role == "tool":
            assert message.tool_call_id in due, "a result without its call before it"
            due.remove(message.tool_call_id)
            continue
        assert not due, "a call without a result, mid-history"
        if message.role == "assistant":
            due = [call["id"] for call in message.tool_calls]
    if due:
        assert running, "a call without a result at the end"
        assert messages[-1].role == "assistant", "a call answered in part"


# Any history: few ids, so that they repeat, cross turns and miss; every form of content.
CONTENT = st.one_of(
    st.none(),
    st.sampled_from(["", "ok", "谢谢", "remember my address 5", "今天天气很好" * 20, "word " * 60, "😀" * 30]),
    st.lists(
        st.sampled_from(
            [{"type": "text", "text": "look " * 40}, {"type": "image", "base64": "A" * 999}, "plain", {"type": "x"}]
        ),
        max_size=3,
    ),
)
ID = st.sampled_from(["c1", "c2", "c3", "c4"])
MESSAGE = st.one_of(
    st.builds(system, CONTENT),
    st.builds(user, CONTENT),
    st.builds(assistant, CONTENT),
    st.builds(lambda content, ids: assistant(content, *ids), CONTENT, st.lists(ID, min_size=1, max_size=3)),
    st.builds(tool, ID, CONTENT),
    st.builds(tool, ID, CONTENT),
)
HISTORY = st.lists(MESSAGE, max_size=25).map(
    lambda history: [message.model_copy(update={"id": str(n)}) for n, message in enumerate(history)]
)
LIMIT = st.none() | st.integers(0, 30) | st.integers(0, 1500)
Window = Callable[[list[Message]], list[Message]]
WINDOW: st.SearchStrategy[Window] = st.one_of(
    st.builds(
        lambda n, m: lambda history: sliding(history, max_turns=n, max_tokens=m),
        st.none() | st.integers(1, 6),
        LIMIT,
    ),
    st.builds(
        lambda n, m: lambda history: by_importance(history, max_tokens=m, keep_turns=n),
        st.integers(0, 4),
        st.integers(0, 30) | st.integers(0, 1500),
    ),
)


@given(HISTORY, WINDOW)
def test_r02_any_window_of_any_history_is_accepted_by_a_provider(history: list[Message], window: Window) -> None:
    assert_valid(window(history))


@given(HISTORY, WINDOW)
def test_a1_any_window_starts_on_a_user_message_and_keeps_the_newest(history: list[Message], window: Window) -> None:
    result = window(history)
    asked = [message for message in history if message.role == "user"]
    body = [message for message in result if message.role != "system"]
    if asked:
        assert body[0].role == "user"
        assert asked[-1].id in [message.id for message in result]
    if paired(history):
        assert result, "nothing left of a chat"
    lead = 0
    while lead < len(history) and history[lead].role == "system":
        lead += 1
    assert result[:lead] == history[:lead]


@given(HISTORY, WINDOW)
def test_a1_any_window_of_itself_is_itself_and_nothing_is_changed(history: list[Message], window: Window) -> None:
    before = [message.model_dump() for message in history]
    result = window(history)
    assert result == window(history)
    assert window(result) == result
    assert [message.model_dump() for message in history] == before


@given(HISTORY, WINDOW)
def test_a1_any_window_is_in_the_order_of_the_paired_history(history: list[Message], window: Window) -> None:
    rest = iter([(m.id, m.role, m.tool_call_id) for m in paired(history)])
    assert all((m.id, m.role, m.tool_call_id) in rest for m in window(history))


@given(HISTORY, st.integers(0, 1500), st.integers(0, 3))
def test_a1_a_window_is_over_its_limit_only_when_it_can_not_be_smaller(
    history: list[Message], limit: int, keep: int
) -> None:
    for result, kept in (
        (sliding(history, max_tokens=limit), 1),
        (by_importance(history, max_tokens=limit, keep_turns=keep), max(1, keep)),
    ):
        if size(result) <= limit:
            continue
        groups = turns(result)
        assert len(groups) <= kept
        for group in groups:
            # The question and the newest answer, which may be calls with their results.
            assert sum(message.role != "tool" for message in group) <= 2
        for message in result:
            if message.role != "system":
                assert count(message.text) <= SHORTEST + 2  # joining two parts may add a blank


@given(HISTORY)
def test_r02_paired_is_valid_stable_and_loses_no_message_but_orphans(history: list[Message]) -> None:
    result = paired(history)
    assert_valid(result)
    assert paired(result) == result
    kept = {message.id for message in result}
    calls = {call["id"] for message in history for call in message.tool_calls}
    for message in history:
        if message.role != "tool":
            assert message.id in kept
        elif message.tool_call_id not in calls:
            assert message.id not in kept
    assert [m.id for m in result if m.role != "tool"] == [m.id for m in history if m.role != "tool"]


@given(HISTORY)
def test_a1_turns_hold_every_message_once(history: list[Message]) -> None:
    groups = turns(history)
    lead = 0
    while lead < len(history) and history[lead].role == "system":
        lead += 1
    assert sorted(m.id for group in groups for m in group) == sorted(m.id for m in history[lead:])
    assert all(group and group[0].role == "user" for group in groups[1:])
    assert all(sum(message.role == "user" for message in group) <= 1 for group in groups)


@given(HISTORY, st.none() | st.integers(0, 6), st.none() | st.integers(0, 20), LIMIT)
def test_r03_any_split_has_every_message_on_one_side_and_no_group_on_two(
    history: list[Message], keep_turns: int | None, keep_messages: int | None, keep_tokens: int | None
) -> None:
    older, kept = split(history, keep_turns=keep_turns, keep_messages=keep_messages, keep_tokens=keep_tokens)
    assert sorted(m.id for m in older + kept) == sorted(m.id for m in history)
    for side in (older, kept):
        places = {id(message): n for n, message in enumerate(side)}
        assert len(places) == len(side)
    # What a provider sees of the whole is what it sees of the two sides, so no group was cut.
    answered = {m.id for m in paired(history) if m.role == "tool" and m.content != INTERRUPTED}
    assert {m.id for m in paired(older) + paired(kept) if m.role == "tool" and m.content != INTERRUPTED} == answered
    if any(message.role == "user" for message in kept):
        assert next(m for m in kept if m.role != "system").role == "user" or not older
    asked = [message for message in history if message.role == "user"]
    assert not asked or asked[-1] in kept


# --- A1


@pytest.mark.parametrize(("k", "expected"), [(0, 0), (1, 2), (2, 4), (6, 12), (100, 12)])
@pytest.mark.parametrize("lead", [(), (system(),), (system(), system("Use tabs."))], ids=len)
def test_r11_window_of_k_turns(k: int, expected: int, lead: tuple[Message, ...]) -> None:
    history = chat(6, *lead)
    assert sliding(history, max_turns=k) == [*lead, *history[len(history) - expected :]]


@pytest.mark.parametrize(
    "call",
    [
        lambda: sliding(chat(2), max_turns=-1),
        lambda: sliding([], max_tokens=-1),
        lambda: by_importance([], max_tokens=-1),
        lambda: by_importance(chat(2), max_tokens=9, keep_turns=-1),
        lambda: split(chat(2), keep_turns=-1),
        lambda: split(chat(2), keep_messages=-1),
        lambda: split(chat(2), keep_tokens=-1),
    ],
)
def test_r11_negative_limits_are_refused(call: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput, match="-1"):
        call()
    assert issubclass(InvalidInput, ValueError)


@pytest.mark.parametrize("history", [[], [system()], [system(), user("")]], ids=len)
@pytest.mark.parametrize(
    "window",
    [
        lambda h: sliding(h),
        lambda h: sliding(h, max_turns=3, max_tokens=100),
        lambda h: sliding(h, max_tokens=0),
        lambda h: by_importance(h, max_tokens=100),
        lambda h: by_importance(h, max_tokens=0),
        lambda h: split(h, keep_turns=3)[1],
        lambda h: split(h, keep_tokens=0)[1],
        paired,
    ],
)
def test_r04_trimming_nothing_gives_what_there_is(history: list[Message], window: Window) -> None:
    assert window(history) == history


def test_a1_tokens_limit_whole_turns_newest_first() -> None:
    history = chat(6, system())
    turn = size(history[-2:])
    limit = size(history[:1]) + 3 * turn
    assert sliding(history, max_tokens=limit) == [history[0], *history[-6:]]
    assert sliding(history, max_tokens=limit - 1) == [history[0], *history[-4:]]
    assert sliding(history, max_tokens=limit, max_turns=2) == [history[0], *history[-4:]]


def test_a1_a_turn_that_does_not_fit_ends_the_window() -> None:
    history = [*chat(1), user("word " * 500), assistant(), *chat(1)]
    assert sliding(history, max_tokens=100) == history[-2:]


@pytest.mark.parametrize("limit", [0, 1, 5])
def test_a1_never_fewer_than_the_newest_turn(limit: int) -> None:
    history = chat(3, system())
    assert sliding(history, max_tokens=limit) == [history[0], *history[-2:]]


def test_a1_each_message_is_counted_once_and_only_those_near_the_window() -> None:
    seen: list[str] = []

    def counting(text: str) -> int:
        seen.append(text)
        return 10

    history = chat(1000)
    assert len(sliding(history, max_tokens=28 * 5, count=counting)) == 10
    assert len(seen) == len(set(seen)) == 12
    seen.clear()
    by_importance(history, max_tokens=28 * 5, count=counting)
    assert len(seen) == len(set(seen)) == 2000


def test_a1_a_counter_of_ones_own_is_used() -> None:
    history = chat(6)
    assert len(sliding(history, max_tokens=100, count=lambda text: 40)) == 2
    assert len(sliding(history, max_tokens=100, count=lambda text: 0)) == 12


@pytest.mark.parametrize("limit", [5, 30, 45, 60, 10**6])
def test_a1_call_and_result_stay_together_behind_their_question(limit: int) -> None:
    history = [user("word " * 10), assistant("", "c1"), tool("c1", "word " * 10), assistant("done")]
    result = sliding(history, max_tokens=limit)
    assert result[0].role == "user"
    assert result[-1] == history[-1]
    assert len(result) == (4 if size(history) <= limit else 2)


def test_a1_a_long_turn_keeps_its_question_and_its_newest_groups() -> None:
    history = [user("Count the boats.")]
    for n in range(20):
        history += [assistant("", f"c{n}", f"d{n}"), tool(f"c{n}", "boat " * 20), tool(f"d{n}", "boat " * 20)]
    group = size(history[-3:])
    result = sliding(history, max_tokens=size(history[:1]) + 4 * group + group // 2)
    assert result == [history[0], *history[-12:]]


def test_a3_instructions_outlive_the_older_groups_of_a_long_turn() -> None:
    rule = system("Stop at 100 boats.")
    history = [user("Count."), rule]
    for n in range(9):
        history += [assistant("", f"c{n}"), tool(f"c{n}", "boat " * 20)]
    result = sliding(history, max_tokens=size([*history[:2], *history[-4:]]))
    assert result == [*history[:2], *history[-4:]]


def test_a1_a_giant_tool_result_is_shortened_with_its_call_kept() -> None:
    # Without its result the agent would run the same tool again, for ever.
    history = [user("Read the log."), assistant("", "c1"), tool("c1", "line of the log " * 5_000, payload={"x": 1})]
    result = sliding([*chat(2), *history], max_tokens=500)
    assert result[:2] == history[:2]
    assert size(result) <= 500
    assert MARKER in result[2].text
    assert result[2].tool_call_id == "c1"
    assert result[2].payload is None
    assert count(result[2].text) > 300


def test_a1_messages_before_the_first_question_are_left_out() -> None:
    greeting = assistant("Hello, how can I help?")
    assert sliding([system(), greeting, user(), assistant()]) == [system(), user(), assistant()]
    assert sliding([system(), greeting]) == [system(), greeting]
    again = assistant("Still there?")
    assert sliding([greeting, again]) == [greeting, again]
    assert sliding([greeting, again], max_tokens=3) == [again]


def test_a1_tool_arguments_and_thinking_count() -> None:
    history: list[Message] = []
    for n in range(10):
        call = {"id": f"c{n}", "name": "write", "args": {"text": "word " * 200}}
        history += [user(), Message(role="assistant", tool_calls=(call,)), tool(f"c{n}"), assistant()]
    assert sliding(history, max_tokens=50) == [history[-4], history[-1]]
    assert len(sliding(history, max_tokens=700)) == 12


def test_a1_a_recording_does_not_push_the_earlier_turns_out() -> None:
    history = [*chat(5), user([{"type": "audio", "base64": "QUJD" * 100_000}]), assistant()]
    assert sliding(history, max_tokens=1_000) == history


# --- A2


def test_a2_nothing_is_left_out_while_all_fits() -> None:
    history = chat(9, system())
    assert by_importance(history, max_tokens=size(history)) == history
    assert by_importance(history, max_tokens=size(history) - 1) != history


def test_a2_the_weightiest_older_messages_come_back_in_their_order() -> None:
    history = chat(20, system())
    history[5:5] = [user("Remember: my password is tulip"), assistant("Noted.")]
    history[21:21] = [user("My address is 5 Elm Road"), assistant("Noted.")]
    limit = size([history[0], *history[-4:], history[5], history[21]])
    result = by_importance(history, max_tokens=limit)
    assert result == [history[0], history[5], history[21], *history[-4:]]
    assert size(by_importance(history, max_tokens=limit + 60)) <= limit + 60


def test_a2_the_last_turns_are_never_weighed_against_older_ones() -> None:
    important = [user("Remember the important password 1234"), assistant("Noted.")]
    history = important * 5 + chat(2)
    assert by_importance(history, max_tokens=size(history[-4:])) == history[-4:]
    assert by_importance(history, max_tokens=size(history[-4:]) - 1) == history[-4:]  # both turns, as short as can be
    assert by_importance(history, max_tokens=size(history[-2:]), keep_turns=1) == history[-2:]


def test_a2_an_answer_comes_with_its_question() -> None:
    history = [user("Where?"), assistant("Remember the address: password 77"), *chat(4)]
    room = size(history[-4:]) + size(history[:2])
    assert by_importance(history, max_tokens=room) == history[:2] + history[-4:]
    assert history[1] not in by_importance(history, max_tokens=room - 1)


def test_a2_calls_and_results_weigh_as_one() -> None:
    history = [user("Look it up"), assistant("", "c1", "c2"), tool("c1", "blue"), tool("c2", "password 1234"), *chat(6)]
    room = size(history[-4:]) + size(history[:4])
    assert by_importance(history, max_tokens=room) == history[:4] + history[-4:]
    assert not {"c1", "c2"} & {m.tool_call_id for m in by_importance(history, max_tokens=room - 1)}


def test_a2_equals_are_taken_newest_first() -> None:
    history = [user("aa"), user("bb"), user("cc"), user("dd"), user("ee")]
    assert by_importance(history, max_tokens=size(history[:3])) == history[-3:]


def test_a2_another_weight_may_be_given() -> None:
    history = chat(8)
    limit = size(history[-4:]) + size(history[:2])
    result = by_importance(history, max_tokens=limit, weigh=lambda message: float(message.text in ("q1", "a1")))
    assert result == history[2:4] + history[-4:]


def test_a3_instructions_outlive_and_small_talk_leaves_first() -> None:
    rule, thanks, result = system("From now on answer in French."), user("thanks!"), assistant("All 42 files moved.")
    history = [user("Move the files"), result, thanks, assistant("You're welcome!"), rule, *chat(2)]
    limit = size([rule, *history[:2], *history[-4:]])
    assert by_importance(history, max_tokens=limit) == [*history[:2], rule, *history[-4:]]


# --- R02


def test_r02_a_call_that_was_interrupted_is_answered_before_the_next_question() -> None:
    history = [user(), assistant("", "c1", "c2"), tool("c1"), user("hello")]
    result = paired(history)
    assert result == paired(history)
    assert [m.role for m in result] == ["user", "assistant", "tool", "tool", "user"]
    assert (result[3].tool_call_id, result[3].content, result[3].name) == ("c2", INTERRUPTED, "search")
    for n in range(3):
        history += [assistant(f"a{n}"), user(f"q{n}")]
        assert sliding(history)[:5] == result
        assert_valid(sliding(history), running=False)


def test_r02_calls_answered_in_part_at_the_end_are_completed() -> None:
    assert [m.text for m in paired([user(), assistant("", "c1", "c2"), tool("c2")])][-1] == INTERRUPTED


def test_r02_a_call_still_running_is_left_alone() -> None:
    history = [user(), assistant("", "c1")]
    assert paired(history) == history
    assert sliding(history, max_tokens=10_000) == sliding(history, max_tokens=1) == history
    assert paired([*history, system()])[2].content == INTERRUPTED


def test_r02_only_an_assistant_calls_tools() -> None:
    history = [user(tool_calls=({"id": "c1", "name": "f", "args": None},)), tool("c1"), assistant()]
    assert paired(history) == history[::2]


def test_r02_results_without_a_call_and_second_results_are_left_out() -> None:
    history = [
        tool("c9"),
        user(),
        tool("c1"),
        assistant("", "c1"),
        tool("c1", "first"),
        tool("c1", "again"),
        tool(None),
    ]
    assert paired(history) == [history[1], history[3], history[4]]
    assert paired([tool("c9")]) == []


def test_r02_a_late_result_moves_up_to_its_call() -> None:
    history = [user(), assistant("", "c1"), user("hurry"), tool("c1", "late"), assistant("done")]
    assert paired(history) == [history[0], history[1], history[3], history[2], history[4]]


def test_r02_parallel_agents_results_go_each_to_its_call() -> None:
    history = [user(), assistant("", "c1"), assistant("", "c2"), tool("c2", "two"), tool("c1", "one")]
    assert paired(history) == [history[0], history[1], history[4], history[2], history[3]]


def test_r02_ids_numbered_anew_in_every_message_belong_to_the_newest() -> None:
    history = [user(), assistant("", "0"), user(), assistant("", "0"), tool("0", "new"), tool("0", "more")]
    assert texts(paired(history)) == ["q", "", INTERRUPTED, "q", "", "new"]


def test_r02_one_id_for_two_calls_of_a_message_takes_two_results() -> None:
    history = [user(), assistant("", "0", "0"), tool("0", "one"), tool("0", "two"), user()]
    assert paired(history) == history


def test_r02_calls_without_ids_are_known_by_name() -> None:
    calls = ({"id": None, "name": "find", "args": None}, {"id": "", "name": "read", "args": None})
    history = [
        user(),
        Message(role="assistant", tool_calls=calls),
        tool(None, "text", name="read"),
        tool(None, "place", name="find"),
        user(),
    ]
    assert paired(history) == history


# --- R03


GROUP = [assistant("", *(f"c{n}" for n in range(8))), *(tool(f"c{n}", "x" * (1 if n else 5_000)) for n in range(8))]
PARALLEL = [
    message.model_copy(update={"id": f"m{n}"}) for n, message in enumerate([user(), *GROUP, assistant(), user("next")])
]


@pytest.mark.parametrize(
    "keep", [{"keep_messages": n} for n in range(1, 12)] + [{"keep_tokens": 60}, {"keep_turns": 1}]
)
def test_r03_parallel_results_are_never_cut_from_their_call(keep: dict[str, int]) -> None:
    older, kept = split(PARALLEL, **keep)
    group = {message.id for message in PARALLEL[1:10]}
    assert group <= {m.id for m in older} or group <= {m.id for m in kept}
    assert older + kept == PARALLEL
    assert kept[-1] == PARALLEL[-1]
    assert_valid(kept)


def test_r03_split_keeps_as_many_turns_as_all_limits_allow() -> None:
    history = chat(6, system())
    turn = size(history[-2:])
    assert split(history) == ([], history)
    assert split(history, keep_turns=4) == (history[1:5], [history[0], *history[5:]])
    assert split(history, keep_messages=4) == split(history, keep_messages=5)
    assert split(history, keep_messages=5) == (history[1:9], [history[0], *history[9:]])
    assert split(history, keep_tokens=size(history[:1]) + 3 * turn) == (history[1:7], [history[0], *history[7:]])
    assert split(history, keep_tokens=size(history[:1]) + 3 * turn - 1) == split(history, keep_turns=2)
    assert split(history, keep_turns=4, keep_messages=2) == (history[1:11], [history[0], *history[11:]])
    assert split(history, keep_turns=0) == split(history, keep_turns=1)


def test_r03_a_late_result_goes_with_its_call() -> None:
    history = [user(), assistant("", "c1"), user("hurry"), tool("c1", "late"), assistant()]
    older, kept = split(history, keep_turns=1)
    assert (older, kept) == ([history[0], history[1], history[3]], [history[2], history[4]])


# --- R12


def test_r12_a_prefix_over_the_limit_leaves_the_newest_question() -> None:
    prompt = system("word " * 400)
    for result in (
        sliding([prompt, *chat(3), user("hello")], max_tokens=300),
        by_importance([prompt, *chat(3), user("hello")], max_tokens=300, keep_turns=1),
    ):
        assert result == [prompt, user("hello")]


@pytest.mark.parametrize("text", ["今天天气很好👨\u200d👩\u200d👧😀" * 9_000, "🇫🇷" * 50_000], ids=["mixed", "flags"])
@pytest.mark.parametrize("parts", [False, True])
def test_r12_a_giant_question_is_shortened_with_a_marker(text: str, parts: bool) -> None:
    content = [{"type": "text", "text": text}, {"type": "text", "text": "Why?"}] if parts else text
    giant = user(content, id="m9", name="ann", payload={"langchain": {"content": text}})
    history = [system(), *chat(3), giant]
    for result in (sliding(history, max_tokens=1_000), by_importance(history, max_tokens=1_000, keep_turns=1)):
        assert result[0] == system()
        assert len(result) == 2
        short = result[1]
        assert (short.id, short.name, short.payload) == ("m9", "ann", None)
        assert 900 < size(result) <= 1_000
        head, tail = short.text.removesuffix(" Why?").split(MARKER)
        assert text.startswith(head)
        assert text.endswith(tail)
        assert head
        assert tail
        assert (" Why?" in short.text) == parts
        short.text.encode()
    assert giant.text.startswith(text)


def test_r12_a_short_answer_stays_whole_beside_a_giant_question() -> None:
    result = sliding([user("word " * 5_000), assistant("Yes, on Monday.")], max_tokens=300)
    assert texts(result)[1] == "Yes, on Monday."
    assert 280 <= size(result) <= 300


def test_r12_many_text_parts_keep_their_first_and_last() -> None:
    parts = [{"type": "text", "text": f"part {n} of the report"} for n in range(300)]
    [short] = sliding([user([*parts, {"type": "image", "url": "x"}])], max_tokens=400)
    assert count_message(short) <= 400
    assert "part 0 " in short.text
    assert "part 299" in short.text
    assert short.content[-1]["type"] == "image"


# --- R15


def test_r15_content_of_any_form_passes_unchanged() -> None:
    picture = [{"type": "text", "text": "look"}, {"type": "image_url", "image_url": {"url": "https://x.org/a.png"}}]
    history = [
        user(picture),
        assistant(None, "c1"),
        tool("c1", []),
        assistant([]),
        user({"type": "text", "text": "hi"}),
    ]
    assert sliding(history, max_tokens=1_000) == by_importance(history, max_tokens=1_000) == history
    assert [m.role for m in sliding(history, max_tokens=1)] == ["user"]


def test_a1_windows_use_the_public_counter_by_default() -> None:
    history = chat(4)
    assert sliding(history, max_tokens=40) == sliding(history, max_tokens=40, count=tokens.count)
