"""Whoever names one user to the command line sees, and changes, nothing of another's."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from shared_core import AgentMemory
from tests import every_verb
from tests.cli.conftest import Run
from tests.every_verb import Filled

ALICE, BOB = "zqsecretalice", "zqsecretbob"


def state(path: Path, file: Path) -> str:
    """All that is kept of alice, archives included."""
    with AgentMemory.open(path, embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.export(file, audit=True)
        archived = [[each.text for each in scope.archive.read(one.id)] for one in scope.archive.list()]
    return "\n".join([*file.read_text(encoding="utf-8").splitlines()[1:], repr(archived)])


def commands(given: Filled, folder: Path) -> list[tuple[str, ...]]:
    """Every verb that takes a user, with what another user may guess or have seen of alice's."""
    asked = folder / "asked.jsonl"
    asked.write_text(json.dumps({"question": given.word, "expected": [given.record]}) + "\n", encoding="utf-8")
    talk = folder / "talk.jsonl"
    talk.write_text('{"role": "user", "content": "I like tea", "id": "m1"}\n', encoding="utf-8")
    same = json.dumps({"id": given.record})
    ids = (given.record, given.event, given.procedure, given.archive, given.session, given.archived_session)
    return [
        ("search", given.word), ("search", given.word, "--session", given.session), ("search", given.word, "-k", "50"),
        ("search", given.word, "--where", same), ("search", given.word, "--kind", "turn"), ("show",),
        ("show", "--where", same), *(("show", id) for id in ids), *(("show", "--session", id) for id in ids),
        ("archive",), *(("archive", id) for id in ids), *(("archive", "--restore", id) for id in ids),
        *(("archive", "--delete", id) for id in ids), ("export", str(folder / "all.jsonl"), "--audit"),
        *(("export", str(folder / f"one{n}.jsonl"), "--session", id) for n, id in enumerate(ids)), ("consolidate",),
        ("cleanup",), ("cleanup", "--go", "--delete", "--threshold", "1"), ("redact",), ("redact", "--go"),
        ("evaluate", str(asked)), ("import", str(talk), "--format", "openai"),
    ]  # fmt: skip


@pytest.mark.parametrize("agent", ["default", "other"])
def test_e2_no_command_reaches_what_is_not_its_users(run: Run, tmp_path: Path, agent: str) -> None:
    path, folder = tmp_path / "agent.db", tmp_path / "written"
    folder.mkdir()
    user = "bob" if agent == "default" else "alice"
    with AgentMemory.open(path, embedder="hashing", settings={"facts": {"strategy": "ask"}}) as memory:
        hers = every_verb.filled(memory.scope(user="alice"), "zqname", ALICE)
        every_verb.filled(memory.scope(user=user, agent=agent), "zqother", BOB)
    before = state(path, tmp_path / "state")
    assert before.count(ALICE) > 20
    shown = 0
    for command in commands(hers, folder):
        for form in ((), ("--json",)):
            told = run(*command, "--db", path, "--user", user, "--agent", agent, *form)
            assert told.code in (0, 1, 2)
            assert ALICE not in told.out + told.err, command
            shown += BOB in told.out
        for file in folder.iterdir():
            assert ALICE.encode() not in file.read_bytes(), command
    assert shown > 5, "the commands do show what is theirs"
    assert state(path, tmp_path / "state") == before
