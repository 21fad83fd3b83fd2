"""Ten days of an agent's talk, and what is left of them: the story of `examples/`, in both languages, told in five ways."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from ten_conversations import START, STORIES, answers, is_right, mornings, tell
from ten_days.parts import Forget, Question, Story, User

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock

ROOT = Path(__file__).parents[2]
LANGUAGES = sorted(STORIES)
Way = Callable[[Path, Story, ManualClock], AgentMemory]


def in_one_go(folder: Path, story: Story, clock: ManualClock) -> AgentMemory:
    memory = AgentMemory.open(clock=clock)
    for day in mornings(clock, story.days):
        tell(memory.scope(user=story.user), day, clock)
    return memory


def reopened(folder: Path, story: Story, clock: ManualClock) -> AgentMemory:
    """The file is closed every night, and all of the scope consolidated before."""
    for day in mornings(clock, story.days):
        with AgentMemory.open(folder / "agent.db", clock=clock) as memory:
            scope = memory.scope(user=story.user)
            tell(scope, day, clock)
            scope.consolidate()
    return AgentMemory.open(folder / "agent.db", clock=clock)


def behind(folder: Path, story: Story, clock: ManualClock) -> AgentMemory:
    """The background writer stores what is said."""
    memory = AgentMemory.open(folder / "agent.db", clock=clock, settings={"background": {"on": True}})
    for day in mornings(clock, story.days):
        tell(memory.scope(user=story.user), day, clock)
    memory.flush()
    return memory


def moved(folder: Path, story: Story, clock: ManualClock) -> AgentMemory:
    """All of it was exported, and read into another memory."""
    with in_one_go(folder, story, clock) as memory:
        memory.scope(user=story.user).export(folder / "all.jsonl.zst")
    other = AgentMemory.open(folder / "other.db", clock=clock)
    other.scope(user=story.user).import_(folder / "all.jsonl.zst")
    return other


def archived(folder: Path, story: Story, clock: ManualClock) -> AgentMemory:
    """The first conversation was put into the archive and taken out again."""
    memory = AgentMemory.open(folder / "agent.db", clock=clock, settings={"archive": {"address": str(folder / "cold")}})
    scope = memory.scope(user=story.user)
    for day in mornings(clock, story.days):
        tell(scope, day, clock)
    first = scope.archive.session(story.days[0].session)
    assert story.days[0].session not in scope.sessions()
    scope.archive.restore(first.id)
    return memory


WAYS: tuple[Way, ...] = (in_one_go, reopened, behind, moved, archived)


@pytest.fixture(scope="module", params=[(language, way) for language in LANGUAGES for way in WAYS],
                ids=lambda given: f"{given[0]}-{given[1].__name__}")  # fmt: skip
def told(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Scope, Story]]:
    language, way = request.param
    story, clock = STORIES[language], ManualClock(START)
    with way(tmp_path_factory.mktemp("story"), story, clock) as memory:
        scope = memory.scope(user=story.user)
        scope.procedures.mine()
        yield scope, story


def test_f1_thirty_questions_are_answered(told: tuple[Scope, Story]) -> None:
    scope, story = told
    assert len(story.questions) == 30
    wrong = {
        (question.verb, question.asked, question.day): found
        for question in story.questions
        if not is_right(question, found := answers(scope, question))
    }
    assert not wrong


def everything(scope: Scope, story: Story) -> str:
    """All that the memory says in any of its parts."""
    said: list[Any] = [record.model_dump_json() for record in scope.list(where={"status": {"$exists": True}})]
    said += [record.text for record in scope.episodes.timeline(hours=None)]
    said += [scope.profile.text(), *map(str, scope.graph.relations()), *(each.name for each in scope.graph.entities())]
    for name in scope.sessions():
        chat = scope.session(name)
        said += [chat.summary, chat.snapshot, chat.working.text(), *(m.text for m in chat.messages())]
    said.append(scope.session(story.days[4].session).context(f"{story.secret}?").text)
    said += [hit.record.text for hit in scope.search(story.secret, k=50)]
    return "\n".join(map(str, said))


def test_f1_the_secret_is_nowhere_once_it_was_to_be_forgotten(told: tuple[Scope, Story]) -> None:
    scope, story = told
    assert any(isinstance(step, Forget) for day in story.days for step in day.steps)
    assert any(isinstance(step, User) and story.secret in step.text for day in story.days for step in day.steps)
    text = everything(scope, story)
    assert story.unsaid[0] in text  # the rest is there
    assert story.secret not in re.sub(rf"{story.secret}[?？]", "", text)


def test_f1_what_only_the_assistant_said_is_no_fact_and_no_part_of_the_profile(told: tuple[Scope, Story]) -> None:
    scope, story = told
    kept = "\n".join(f"{r.text} {r.triple}" for r in scope.list(kinds=["fact"])) + scope.profile.text()
    assert not [word for word in story.unsaid if word in kept]
    assert any(word in message.text for word in story.unsaid for day in story.days
               for message in scope.session(day.session).messages())  # fmt: skip


def test_f1_a_task_of_days_ago_is_still_under_way(told: tuple[Scope, Story]) -> None:
    scope, story = told
    working = scope.session(story.days[1].session).working
    assert working.current is not None
    assert working.current.plan
    assert len(working.current.steps) == 1
    assert [task.status.value for task in scope.session(story.days[0].session).working.tasks()] == ["completed"]


def test_f1_the_context_of_the_last_day_has_every_part(told: tuple[Scope, Story]) -> None:
    scope, story = told
    chat = scope.session(story.days[7].session)
    context = chat.context(next(q.asked for q in story.questions if q.verb == "works"))
    assert {section.name for section in context.sections} >= {"profile", "task", "rules", "memories", "recent"}
    assert context.tokens <= 2000


@pytest.mark.parametrize("language", LANGUAGES)
def test_the_example_runs_as_a_user_would_run_it(language: str) -> None:
    command = [sys.executable, str(ROOT / "examples" / "ten_conversations.py"), "--language", language]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, encoding="utf-8", check=False, cwd=ROOT)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith("30 of 30 as expected")


def test_a_wrong_answer_is_told_from_a_right_one() -> None:
    question = Question("Where?", ["Rome"], stale=["Lyon"], never=["Oslo"])
    assert is_right(question, ["x", "now in Rome", "once in Lyon"])
    assert not is_right(question, ["once in Lyon", "now in Rome"])
    assert not is_right(question, ["now in Rome", "in Oslo"])
    assert not is_right(question, [])
    assert not is_right(Question("When?", ["review"], on="2026-03-09"), ["review (2026-03-10)"])
