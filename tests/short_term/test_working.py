"""Working memory (A6): an agent that loses its task, its plan or what it has done starts all over again."""

from __future__ import annotations

import asyncio
import inspect
import json
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core import AgentMemory, Scope, Session
from shared_core.errors import InvalidInput, InvalidType, LimitExceeded, NotFound, StoreTooNew
from shared_core.short_term import working as shell
from shared_core.short_term.task_text import text, within
from shared_core.short_term.tasks import Task, Tasks, TaskStatus
from shared_core.short_term.tokens import count
from shared_core.short_term.working import Working
from shared_core.testing import ManualClock

AT = datetime(2026, 3, 1, 9, tzinfo=UTC)


@pytest.fixture
def chat(scope: Scope) -> Session:
    return scope.session("monday")


@pytest.fixture
def working(chat: Session) -> Working:
    return chat.working


# ---------------------------------------------------------------------- the stack


def test_a6_a_task_keeps_all_it_was_started_with(working: Working, clock: ManualClock) -> None:
    task = working.start(
        "report", "Write the report", "Sent by noon", ["two pages", "no jargon"], deadline=timedelta(hours=3),
        plan=["collect", "write"],
    )  # fmt: skip
    assert (task.id, task.description, task.goal) == ("report", "Write the report", "Sent by noon")
    assert task.constraints == ("two pages", "no jargon")
    assert (task.status, task.parent) == (TaskStatus.IN_PROGRESS, None)
    assert task.deadline == clock() + timedelta(hours=3)
    assert not task.overdue(clock())
    assert (task.plan, task.next) == (("collect", "write"), "collect")
    assert working.current == task


def test_a6_subtasks_are_pushed_and_popped_and_hand_up_their_results(working: Working) -> None:
    working.start("root", "Move house")
    working.push("van", "Rent a van")
    working.push("call", "Call the rental")
    assert [task.id for task in working.stack] == ["root", "van", "call"]
    popped = working.pop("booked for Friday")
    assert (popped.id, popped.status, popped.result) == ("call", TaskStatus.COMPLETED, "booked for Friday")
    assert working.current is not None
    assert working.current.id == "van"
    assert [(r.name, r.text) for r in working.current.results] == [("call", "booked for Friday")]
    working.complete("a van, 80 €")
    assert working.current.id == "van", "a finished subtask stays current until it is popped"
    working.pop()
    assert [(r.name, r.text) for r in working.stack[0].results] == [("van", "a van, 80 €")]


def test_a6_the_root_task_is_never_popped_and_its_final_result_is_kept(working: Working) -> None:
    working.start("root", "Move house")
    with pytest.raises(InvalidInput, match="root task, which is never popped"):
        working.pop()
    working.complete("moved")
    with pytest.raises(InvalidInput, match="root task"):
        working.pop("moved twice")
    assert working.current is not None
    assert working.current.result == "moved"
    working.start("next", "Unpack")
    old = working.task("root")
    assert old is not None
    assert (old.status, old.result) == (TaskStatus.COMPLETED, "moved")


def test_a6_an_unfinished_subtask_that_is_popped_waits_until_it_is_resumed(working: Working) -> None:
    working.start("root", "Move house")
    working.push("van", "Rent a van")
    working.step("search", "two offers")
    assert working.pop().status is TaskStatus.PAUSED
    assert working.current is not None
    assert working.current.id == "root"
    assert not working.current.results
    resumed = working.resume("van")
    assert resumed.status is TaskStatus.IN_PROGRESS
    assert [step.action for step in resumed.steps] == ["search"]
    assert [task.id for task in working.stack] == ["root", "van"]


def test_a6_a_new_task_sets_the_old_one_aside_with_its_whole_stack(working: Working) -> None:
    working.start("a", "A")
    working.push("a1", "A1")
    working.start("b", "B")
    assert {task.id: task.status.value for task in working.tasks()} == {
        "a": "paused", "a1": "paused", "b": "in_progress",
    }  # fmt: skip
    working.resume("a1")
    assert [task.id for task in working.stack] == ["a", "a1"]
    assert {task.id for task in working.tasks("in_progress")} == {"a", "a1"}
    assert [task.id for task in working.tasks("paused")] == ["b"]


def test_a6_a_queued_task_is_pending_until_its_turn(working: Working) -> None:
    working.start("now", "Now")
    working.queue("later", "Later", deadline=AT)
    assert working.current is not None
    assert working.current.id == "now"
    assert [task.id for task in working.tasks("pending")] == ["later"]
    working.complete()
    assert working.resume("later").status is TaskStatus.IN_PROGRESS
    assert working.current.id == "later"


# ---------------------------------------------------------------------- what must not happen

REFUSED: list[tuple[str, Callable[[Working], Any], type[Exception], str]] = [
    ("", lambda w: w.step("x"), NotFound, "working.start"),
    ("", lambda w: w.set("a", 1), NotFound, "working.start"),
    ("", lambda w: w.push("a", "A"), NotFound, "working.start"),
    ("", lambda w: w.complete(), NotFound, "working.start"),
    ("", lambda w: w.resume("a"), NotFound, "no task 'a'"),
    ("", lambda w: w.remove("a"), NotFound, "no task 'a'"),
    ("start", lambda w: w.start("t", "again"), InvalidInput, "here already, in_progress"),
    ("start", lambda w: w.resume(), InvalidInput, "under way"),
    ("start", lambda w: w.advance(), InvalidInput, "no further step"),
    ("start pause", lambda w: w.step("x"), InvalidInput, r"is paused .*resume\(\)"),
    ("start pause", lambda w: w.pause(), InvalidInput, "is paused"),
    ("start pause", lambda w: w.complete(), InvalidInput, "is paused"),
    ("start pause", lambda w: w.push("s", "S"), InvalidInput, "is paused"),
    ("start complete", lambda w: w.step("x"), InvalidInput, "is completed"),
    ("start complete", lambda w: w.complete(), InvalidInput, "is completed"),
    ("start complete", lambda w: w.fail(), InvalidInput, "is completed"),
    ("start complete", lambda w: w.resume("t"), InvalidInput, "is completed"),
    ("start complete", lambda w: w.start("t", "again"), InvalidInput, "an id of its own"),
    ("start fail", lambda w: w.complete(), InvalidInput, r"is failed .*resume\('t'\)"),
    ("start", lambda w: w.tasks("done"), InvalidInput, "pending, in_progress"),
    ("start", lambda w: w.text(language="fr"), InvalidInput, "'en' or 'zh'"),
    ("", lambda w: w.start("t", "  "), InvalidInput, "blank"),
    ("", lambda w: w.start("", "T"), InvalidInput, "task id is empty"),
    ("", lambda w: w.start("t", "T", constraints="one text"), InvalidType, "a list of texts"),
    ("", lambda w: w.start("t", "T", deadline=datetime(2026, 1, 1)), InvalidInput, "no timezone"),
    ("", lambda w: w.start("t", "T", deadline=timedelta(days=10**8)), InvalidInput, "9999"),
    ("start", lambda w: w.set("a", object()), InvalidType, "can't be kept as JSON"),
    ("start", lambda w: w.set("a", float("nan")), InvalidInput, "JSON has no number"),
    ("start", lambda w: w.plan("one text"), InvalidType, "a list of texts"),
    ("start", lambda w: w.set("a", "x" * 1_000_001), LimitExceeded, "metadata_bytes"),
    ("start", lambda w: w.set("", 1), InvalidInput, "blank"),
    ("start", lambda w: w.text(-1), InvalidInput, "whole number"),
]  # fmt: skip


@pytest.mark.parametrize(("before", "act", "error", "said"), REFUSED)
def test_a6_what_is_not_allowed_raises_a_clear_error_and_changes_nothing(
    working: Working, before: str, act: Callable[[Working], Any], error: type[Exception], said: str
) -> None:
    for verb in before.split():
        working.start("t", "T") if verb == "start" else getattr(working, verb)()
    kept = working.tasks()
    with pytest.raises(error, match=said):
        act(working)
    assert working.tasks() == kept


def test_a6_a_failed_task_keeps_why_and_can_be_tried_again(working: Working) -> None:
    working.start("t", "T")
    assert working.fail("no network").error == "no network"
    assert working.resume("t").status is TaskStatus.IN_PROGRESS
    assert working.current is not None
    assert (working.current.error, working.current.ended_at) == (None, None)


VERBS = (
    "start",
    "push",
    "queue",
    "pop",
    "pop with a result",
    "complete",
    "fail",
    "pause",
    "resume",
    "resume one",
    "remove",
)


@given(st.lists(st.tuples(st.sampled_from(VERBS), st.integers(0, 4)), max_size=25))
def test_a6_whatever_is_done_the_stack_is_one_chain_and_only_its_tasks_are_under_way(
    done: list[tuple[str, int]],
) -> None:
    tasks = Tasks()
    for verb, number in done:
        before = Tasks.read(tasks.written())
        try:
            act(tasks, verb, f"t{number}")
        except (InvalidInput, NotFound):
            # The shell writes nothing then; here the half-done state is dropped as the transaction is.
            tasks = before
        stack = tasks.stack()
        assert [task.parent for task in stack] == [None, *(task.id for task in stack)][: len(stack)]
        under_way = {id for id, task in tasks.tasks.items() if task.status is TaskStatus.IN_PROGRESS}
        assert under_way <= {task.id for task in stack}
        assert all(task.status is TaskStatus.IN_PROGRESS for task in stack[:-1])
        assert all((task.ended_at is not None) is task.status.finished for task in tasks.tasks.values())
        assert Tasks.read(json.loads(json.dumps(tasks.written()))) == tasks, "JSON keeps all of it"
        text(tasks, "zh", AT)


def act(tasks: Tasks, verb: str, id: str) -> None:
    new = {"id": id, "description": id, "created_at": AT, "updated_at": AT}
    if verb == "push":
        tasks.add(Task(**new, parent=tasks.at_hand().id), AT)
    elif verb in ("start", "queue"):
        tasks.add(Task(**new, status=TaskStatus.PENDING if verb == "queue" else TaskStatus.IN_PROGRESS), AT)
    elif verb.startswith("pop"):
        tasks.pop(AT, "done" if verb != "pop" else None)
    elif verb.startswith("resume"):
        tasks.resume(None if verb == "resume" else id, AT)
    elif verb == "remove":
        tasks.remove(id)
    else:
        status = {"complete": TaskStatus.COMPLETED, "fail": TaskStatus.FAILED, "pause": TaskStatus.PAUSED}[verb]
        tasks.move(tasks.at_hand(), status, AT)


# ---------------------------------------------------------------------- what is kept of the work


def test_a6_a_steps_result_is_cut_at_500_characters_and_an_intermediate_one_is_shown_at_200(working: Working) -> None:
    working.start("t", "T")
    assert working.step("read", "x" * 501).result == "x" * 500
    working.add_result("y" * 201, "long")
    task = working.current
    assert task is not None
    assert task.results[0].text == "y" * 201, "kept whole"
    told = working.text()
    assert "y" * 200 + "…" in told
    assert "y" * 201 not in told


def test_a6_the_last_five_steps_go_into_the_prompt_all_are_kept(working: Working) -> None:
    working.start("t", "T")
    for number in range(7):
        working.step(f"action-{number}", f"result-{number}", success=number != 5)
    told = working.text()
    assert [f"action-{number}" in told for number in range(7)] == [False, False, True, True, True, True, True]
    assert "action-5 (failed): result-5" in told
    assert working.current is not None
    assert len(working.current.steps) == 7


@pytest.mark.parametrize(("field", "value", "shown"), [("steps", 2, 2), ("steps", 0, 0)])
def test_a6_the_numbers_are_settings(field: str, value: int, shown: int) -> None:
    with AgentMemory.open(embedder="hashing", settings={"working": {field: value, "step_chars": 3}}) as memory:
        working = memory.scope(user="alice").session("s").working
        working.start("t", "T")
        for number in range(4):
            assert working.step(f"action-{number}", "abcdef").result == "abc"
        assert working.text().count("action-") == shown


def test_a6_variables_are_found_in_the_task_then_above_it_then_in_the_context_across_tasks(working: Working) -> None:
    working.set("city", "Lyon", shared=True)
    working.start("root", "Root")
    working.set("city", {"name": "Oslo", "zip": [1, 2]})
    working.push("sub", "Sub")
    assert working.get("city") == {"name": "Oslo", "zip": [1, 2]}
    working.set("city", None)
    assert working.get("city", "unset") is None
    working.unset("city")
    working.pop()
    working.unset("city")
    assert working.get("city") == "Lyon"
    assert working.get("unknown", 7) == 7
    working.complete()
    working.start("other", "Other")
    assert working.get("city") == "Lyon"
    assert working.shared == {"city": "Lyon"}
    working.unset("city", shared=True)
    assert working.get("city") is None


def test_a6_a_plan_knows_its_current_step(working: Working) -> None:
    working.start("t", "T")
    working.plan(["one", "two"])
    assert "- 1. one (now)\n- 2. two" in working.text()
    assert working.advance().next == "two"
    assert "- 1. one (done)\n- 2. two (now)" in working.text()
    assert working.advance().next is None
    with pytest.raises(InvalidInput, match="no further step"):
        working.advance()


def test_a6_the_newest_observations_are_kept_whatever_the_task(working: Working) -> None:
    for number in range(25):
        working.observe(f"seen-{number}")
    assert [seen.text for seen in working.observations] == [f"seen-{number}" for number in range(5, 25)]
    assert working.text().count("seen-") == 5
    assert "seen-24" in working.text()
    working.start("t", "T")
    assert "seen-24" in working.text()


def test_a6_an_overdue_task_says_so(working: Working, clock: ManualClock) -> None:
    working.start("t", "T", deadline=timedelta(hours=1))
    assert "overdue" not in working.text()
    clock.advance(hours=2)
    assert "(overdue)" in working.text()
    assert working.amend(deadline=None, goal="G").deadline is None
    assert "Goal: G" in working.text()
    assert "overdue" not in working.text()


def test_a6_a_task_is_linked_to_the_message_that_caused_it(chat: Session) -> None:
    working = chat.working
    assert working.start("early", "Before anybody spoke").instruction is None
    chat.add_messages([{"role": "user", "content": "Write the report", "id": "m1"},
                       {"role": "assistant", "content": "I begin", "id": "m2"}])  # fmt: skip
    assert working.start("report", "Write the report").instruction == "m1"
    caused = working.instruction()
    assert caused is not None
    assert caused.text == "Write the report"
    assert working.push("other", "Other", instruction="m9").instruction == "m9"
    assert working.instruction("other") is None, "not stored"
    assert working.instruction("report") == caused
    chat.clear()
    assert working.instruction("report") is None


# ---------------------------------------------------------------------- as text


def test_a6_the_text_is_in_the_language_of_the_conversation(chat: Session) -> None:
    working = chat.working
    working.start("bao", "写季度报告", goal="中午前发出", constraints=["两页"], plan=["收集", "写作"])
    working.step("搜索", "找到12个来源")
    working.step("打开", "没有权限", success=False)
    assert working.text() == (
        "任务：写季度报告（进行中）\n目标：中午前发出\n约束：\n- 两页\n计划：\n- 1. 收集（当前）\n- 2. 写作\n"
        "最近的步骤：\n- 搜索：找到12个来源\n- 打开（失败）：没有权限"
    )
    chat.add_messages([{"role": "user", "content": "Please write the quarterly report by noon"}])
    assert working.text().startswith("Task: 写季度报告 (in progress)")
    assert working.text(language="zh").startswith("任务：")


def test_a6_a_subtask_shows_what_it_is_a_part_of_and_whose_constraints_hold(working: Working) -> None:
    working.start("root", "Move house", constraints=["under 500 €"])
    working.push("van", "Rent a van", constraints=["automatic"])
    told = working.text()
    assert "Part of: Move house" in told
    assert "- automatic\n- under 500 €" in told
    working.start("other", "Call mum")
    assert "Set aside:\n- Move house (paused)\n- Rent a van (paused)" in working.text()


def test_a6_within_a_budget_the_last_lists_go_first_and_the_task_stays() -> None:
    tasks = Tasks()
    task = Task(id="t", description="Write the report", goal="Sent", created_at=AT, updated_at=AT, plan=("a", "b"))
    tasks.add(task, AT)
    tasks.shared = {f"name{n}": "value" * 5 for n in range(10)}
    whole = text(tasks, "en", AT)
    for most in range(1, count(whole) + 1):
        part = within(whole, most, count)
        assert count(part) <= most
        lines = part.splitlines()
        assert not lines or not lines[-1].endswith(":"), "no heading without its list"
        assert most < 12 or part.startswith("Task: Write the report (in progress)")
    assert within(whole, count(whole), count) == whole
    assert within(whole, count("Task: Write the report (in progress)\nGoal: Sent"), count) == (
        "Task: Write the report (in progress)\nGoal: Sent"
    )


def test_a6_lines_of_a_task_can_neither_begin_a_list_nor_end_one(working: Working) -> None:
    working.start("t", "Do\n- this\n## now", constraints=["a\nb"])
    working.set("x\ny", "1\n2")
    assert working.text() == "Task: Do - this ## now (in progress)\nConstraints:\n- a b\nVariables:\n- x y = 1 2"


def test_a6_nothing_to_do_is_no_text(working: Working) -> None:
    assert (working.text(), working.current, working.stack, working.tasks()) == ("", None, [], [])


# ---------------------------------------------------------------------- kept, and erased


@pytest.mark.sqlite_only
def test_a6_working_memory_survives_closing_and_is_seen_by_a_second_process(path: Path, python: Any) -> None:
    with AgentMemory.open(path, embedder="hashing") as memory:
        working = memory.scope(user="用户").session("星期一").working
        working.start("a", "写报告", constraints=["两页"], deadline=AT)
        working.set("n", 3)
        working.step("查", "好")
        before = working.tasks()
        script = """
import sys
from shared_core import AgentMemory
with AgentMemory.open(sys.argv[1], embedder="hashing") as memory:
    working = memory.scope(user="用户").session("星期一").working
    assert working.get("n") == 3
    working.push("b", "画图")
"""
        python(script, path)
        assert working.current is not None
        assert working.current.id == "b", "read when it is used"
        working.pop("图.png")
    with AgentMemory.open(path, embedder="hashing") as memory:
        working = memory.scope(user="用户").session("星期一").working
        task = working.current
        assert task is not None
        assert task.results[0].text == "图.png"
        assert task.model_copy(update={"results": (), "updated_at": before[0].updated_at}) == before[0]


def test_a6_two_writers_lose_no_step(path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    with AgentMemory.open(path, embedder="hashing") as memory:
        working = memory.scope(user="alice").session("s").working
        working.start("t", "T")
        with ThreadPoolExecutor(4) as pool:
            list(pool.map(lambda n: working.step(f"a{n}"), range(40)))
        assert working.current is not None
        assert {step.action for step in working.current.steps} == {f"a{n}" for n in range(40)}


@pytest.mark.sqlite_only
def test_a6_clearing_a_session_keeps_its_tasks_deleting_it_erases_them(path: Path) -> None:
    secret = "tangerine-protocol"
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        chat = scope.session("s")
        chat.add_messages([{"role": "user", "content": "hello"}])
        chat.working.start("t", f"Find the {secret}")
        chat.working.set("code", secret, shared=True)
        chat.clear()
        assert chat.working.current is not None, "a task is not a turn"
        chat.delete()
        assert chat.working.current is None
        assert chat.working.shared == {}
        chat.working.start("t", f"Find the {secret}")
        scope.delete_all()
        assert chat.working.tasks() == []
        chat.working.start("t", f"Find the {secret}")
        memory.forget("alice")
        assert chat.working.tasks() == []
        chat.working.start("t", f"Find the {secret}")
        chat.working.observe(secret)
        chat.working.clear()
        assert chat.working.observations == []
        assert chat.working.tasks() == []
        memory.purge()
    assert secret.encode() not in path.read_bytes()


def test_a6_a_removed_task_takes_its_subtasks_along(working: Working) -> None:
    working.start("root", "Root")
    working.push("a", "A")
    working.push("b", "B")
    assert working.remove("a") == ["a", "b"]
    assert working.current is not None
    assert working.current.id == "root"
    assert working.remove("root") == ["root"]
    assert working.current is None


def test_a6_one_scopes_tasks_are_out_of_anothers_reach(memory: AgentMemory) -> None:
    memory.scope(user="alice").session("s").working.start("t", "T")
    assert memory.scope(user="bob").session("s").working.tasks() == []
    assert memory.scope(user="alice", agent="other").session("s").working.tasks() == []
    assert memory.scope(user="alice").session("s2").working.tasks() == []


def test_a6_reading_creates_nothing(memory: AgentMemory) -> None:
    working = memory.scope(user="alice").session("s").working
    assert (working.current, working.text(), working.get("x"), working.instruction()) == (None, "", None, None)
    assert memory.users() == []


@pytest.mark.sqlite_only
def test_a6_every_text_passes_the_redactor_before_it_is_cut_or_kept(path: Path) -> None:
    hide = {"redactor": lambda text: text.replace("13812345678", "[phone]"), "working": {"step_chars": 8}}
    with AgentMemory.open(path, embedder="hashing", settings=hide) as memory:
        working = memory.scope(user="alice").session("s").working
        number = "13812345678"
        working.start("t", f"call {number}", f"reach {number}", [number], plan=[number])
        working.step(number, f"xx{number}")
        working.set("phone", {"n": [number]})
        working.set(f"of {number}", 1, shared=True)
        assert working.get(f"of {number}") == 1
        working.add_result({"phone": number}, number)
        working.observe(number)
        working.push("s", number)
        working.pop(number)
        working.fail(number)
        assert "13812" not in working.text()
        assert "[phone]" in working.text()
    assert b"13812" not in path.read_bytes()


@pytest.mark.sqlite_only
def test_a6_a_newer_versions_tasks_are_refused_and_other_keys_are_left_alone(memory: AgentMemory) -> None:
    chat = memory.scope(user="alice").session("s")
    chat.working.start("t", "T")
    store = chat.scope._engine.store
    with store.write() as tx:
        tx.run("set_session_state", {"session": 1, "state": '{"version":1,"tasks":[],"theirs":{"a":1}}'})
    chat.working.start("u", "U")
    with store.read() as tx:
        assert '"theirs":{"a":1}' in tx.rows("session_state", {"session": 1})[0][0]
    with store.write() as tx:
        tx.run("set_session_state", {"session": 1, "state": '{"version":2,"stack":[]}'})
    with pytest.raises(StoreTooNew, match="newer twinmem"):
        chat.working.current


def test_a6_the_text_comes_out_of_an_open_transaction_for_the_context(chat: Session) -> None:
    chat.working.start("t", "写报告")
    engine = chat.scope._engine
    with engine.store.read() as tx:
        row = chat._row(tx)
        assert row is not None
        assert shell.shown(engine, tx, row[1], "zh") == "任务：写报告（进行中）"
        assert shell.shown(engine, tx, row[1], "zh", 0) == ""


def test_a6_an_ended_session_is_open_again_when_work_goes_on(chat: Session) -> None:
    chat.add_messages([{"role": "user", "content": "hello"}])
    chat.end()
    chat.working.start("t", "T")
    with chat.scope._engine.store.read() as tx:
        row = chat._row(tx)
        assert row is not None
        assert tx.rows("find_session", {"scope": row[0], "name": "monday"})[0][3] is None


# ---------------------------------------------------------------------- async


def test_a6_every_verb_has_an_async_twin_with_the_same_arguments() -> None:
    public = [name for name, _ in inspect.getmembers(Working, inspect.isfunction) if not name.startswith("_")]
    looks = [name for name, _ in inspect.getmembers(Working, lambda member: isinstance(member, property))]
    public = [name for name in public if name[1:] not in looks]
    assert all(inspect.iscoroutinefunction(getattr(Working, "a" + name)) for name in looks if not name.startswith("_"))
    verbs = [name for name in public if not (name.startswith("a") and name[1:] in public)]
    assert len(verbs) >= 22
    for name in verbs:
        sync, twin = getattr(Working, name), getattr(Working, "a" + name)
        assert inspect.iscoroutinefunction(twin), name
        assert inspect.signature(sync).parameters == inspect.signature(twin).parameters


def test_a6_async_verbs_do_the_same(memory: AgentMemory) -> None:
    def of(name: str) -> Working:
        return memory.scope(user="alice").session(name).working

    async def work() -> str:
        working = of("async")
        await working.astart("t", "T", plan=["a", "b"])
        await working.astep("s", "r")
        await working.aset("v", 1)
        await working.aadvance()
        await working.apush("u", "U")
        await working.apop("done")
        assert await working.aget("v") == 1
        assert (await working.acurrent()) == (await working.atask("t"))
        await working.aobserve("seen")
        return await working.atext()

    working = of("sync")
    working.start("t", "T", plan=["a", "b"])
    working.step("s", "r")
    working.set("v", 1)
    working.advance()
    working.push("u", "U")
    working.pop("done")
    working.observe("seen")
    assert asyncio.run(work()) == working.text()
