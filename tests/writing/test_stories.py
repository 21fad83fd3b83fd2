"""Change stories, told through messages and through triples: each ends as it must, its siblings untouched.

A sample runs each time; all 200 a language, kind and way with `TWINMEM_LONG_TESTS=1`.
"""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path

import pytest

from shared_core import AgentMemory
from shared_core.testing import ManualClock

_SPEC = importlib.util.spec_from_file_location("change_stories", Path(__file__).with_name("stories.py"))
assert _SPEC is not None
assert _SPEC.loader is not None
stories = importlib.util.module_from_spec(_SPEC)
sys.modules["change_stories"] = stories
_SPEC.loader.exec_module(stories)

COUNT = 200 if os.environ.get("TWINMEM_LONG_TESTS") else 20


@pytest.mark.parametrize("way", stories.WAYS)
@pytest.mark.parametrize("language", stories.LANGUAGES)
@pytest.mark.parametrize("kind", stories.KINDS)
def test_d3_d4_a_story_of_change_ends_as_it_must(kind: str, language: str, way: str) -> None:
    clock = ManualClock()
    wrong = []
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        for story in stories.stories(kind, language, way, COUNT):
            if found := stories.wrong(story, stories.live(story, memory, clock)):
                wrong.append(([told.text for told in story.told], found))
    assert len(wrong) <= 0.01 * COUNT, (len(wrong), wrong[:3])


def test_a_story_is_the_same_each_time_and_none_is_another() -> None:
    one = [told.text for story in stories.stories("drift", "en", "talked", 50) for told in story.told]
    assert one == [told.text for story in stories.stories("drift", "en", "talked", 50) for told in story.told]
    made = {tuple(told.text for told in story.told) for story in stories.stories("drift", "en", "talked", 50)}
    assert len(made) >= 49


def test_the_check_of_a_story_sees_what_went_wrong() -> None:
    """A check that can't fail proves nothing: without change every kind but the harmless ones fails."""
    clock = ManualClock()
    with AgentMemory.open(embedder="hashing", clock=clock, settings={"facts": {"extract": False}}) as memory:
        for kind in stories.KINDS:
            story = next(stories.stories(kind, "en", "talked", 1))
            assert stories.wrong(story, stories.live(story, memory, clock))
    many = {"facts": {"many_valued": ("lives_in", "works_at")}}
    with AgentMemory.open(embedder="hashing", clock=clock, settings=many) as memory:
        for kind in ("supersession", "drift", "alias"):
            story = next(stories.stories(kind, "zh", "stated", 1))
            assert stories.wrong(story, stories.live(story, memory, clock))
    with AgentMemory.open(embedder="hashing", clock=clock) as memory:
        story = next(stories.stories("unrelated", "zh", "talked", 1))
        scope = stories.live(story, memory, clock)
        scope.delete(scope.list(kinds=["fact"])[0].id)
        assert stories.wrong(story, scope)
