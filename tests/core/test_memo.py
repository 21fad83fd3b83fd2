"""What was worked out about texts is let go of when one of them is erased."""

from __future__ import annotations

from shared_core import AgentMemory, memo
from shared_core.short_term.sentences import cues
from shared_core.writing.conflict import claim_of


def kept() -> int:
    return sum(each.cache_info().currsize for each in memo._KEPT)


def test_e3_an_erasure_lets_go_of_every_text(memory: AgentMemory) -> None:
    scope = memory.scope(user="alice")
    record = scope.add("I live in Lyon", triple=("user", "lives in", "Lyon"))
    scope.session("s").context("Where do I live?")
    claim_of("I live in Lyon", record.triple)
    cues("I live in Lyon")
    assert kept() >= 2
    scope.delete(record.id)
    assert kept() == 0
    cues("I live in Oslo")
    scope.delete_all()
    assert kept() == 0
