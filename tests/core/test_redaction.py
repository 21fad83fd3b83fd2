"""Private data through every door of a memory (E1): masked, kept in the vault, or refused, before anything sees it."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from shared_core import AgentMemory, Scope
from shared_core.embedding.hashing import HashingEmbedder
from shared_core.errors import InvalidInput, StoreDamaged
from shared_core.steps import run
from shared_core.testing import ScriptedLLM
from shared_core.verbs.items import Items, Put

EMAIL, PHONE, CARD, PASSWORD = "zoe.canary@example.com", "13812344321", "4111 1111 1111 1111", "Kanarie77x"
SECRETS = (EMAIL, PHONE, CARD, PASSWORD)
TOLD = f"我的邮箱是{EMAIL}，手机{PHONE}。My card is {CARD}, my password is {PASSWORD}."
MASKED = "我的邮箱是[email]，手机[phone]。My card is [bank_card], my password is [password]."


def opened(mode: str, path: Path | None = None, **more: Any) -> AgentMemory:
    settings = {"redaction": {"mode": mode, **more.pop("redaction", {})}, **more.pop("settings", {})}
    return AgentMemory.open(path, embedder=more.pop("embedder", "hashing"), settings=settings, **more)


def vaulted(memory: AgentMemory) -> list[Any]:
    with memory._live().store.look() as tx:
        return tx.rows("vault_tokens")


class Seeing(HashingEmbedder):
    """An embedder that keeps what it was shown."""

    def __init__(self) -> None:
        super().__init__()
        self.seen: list[str] = []

    def embed_documents(self, texts: list[str]) -> Any:
        self.seen += texts
        return super().embed_documents(texts)

    def embed_query(self, text: str) -> Any:
        self.seen.append(text)
        return super().embed_query(text)


# ---------------------------------------------------------------------- every door


def add(scope: Scope) -> None:
    scope.add(TOLD, metadata={"note": TOLD, "deep": [{"x": TOLD}]}, triple=("me", "mail", EMAIL), entities=[EMAIL])


def add_many(scope: Scope) -> None:
    scope.add_many([TOLD, {"text": "second", "metadata": {"n": TOLD}}])


def update(scope: Scope) -> None:
    scope.update(scope.add("tea").id, text=TOLD, metadata={"n": TOLD}, triple=("me", "card", CARD))


def talk(scope: Scope) -> None:
    call = {"id": "1", "name": "login", "args": {"user": "zoe", "password": PASSWORD, "to": [PHONE], "raw": TOLD}}
    scope.session("s").add_messages(
        [
            {"role": "user", "content": TOLD},
            {"role": "assistant", "content": [{"type": "text", "text": TOLD}], "tool_calls": [call]},
            {"role": "tool", "content": TOLD, "tool_call_id": "1"},
        ]
    )


def history(scope: Scope) -> None:
    scope.session("s").replace_messages([{"role": "user", "content": TOLD}])


def graph(scope: Scope) -> None:
    scope.graph.add("Zoe", "mail", EMAIL, attributes={"a": TOLD})
    scope.graph.add_many([("Zoe", "card", CARD)])
    scope.graph.describe("Zoe", attributes={"b": TOLD})
    scope.graph.alias("Zoe", EMAIL)


def episodes(scope: Scope) -> None:
    scope.episodes.add(TOLD, type="task_start", details={"d": TOLD})


def procedures(scope: Scope) -> None:
    made = scope.procedures.add(TOLD, [TOLD, "then tea"])
    scope.procedures.outcome(made.id, True, TOLD)


def working(scope: Scope) -> None:
    task = scope.session("s").working
    task.start("t", TOLD, goal=TOLD, constraints=[TOLD])
    task.step(TOLD, {"r": TOLD})
    task.set("v", {"password": PASSWORD, "l": [TOLD]})
    task.add_result(TOLD, name="n")
    task.observe(TOLD)
    task.complete(TOLD)


def items(scope: Scope) -> None:
    put = Put(scope.user, ("memories", scope.user), "k", {"text": TOLD, "password": PASSWORD}, [TOLD])
    own = Seeing()
    own.name = "own"
    run(Items(_MEMORIES[id(scope._engine)], embedder=own).writing([put]))
    assert not any(secret in text for secret in SECRETS for text in own.seen)


_MEMORIES: dict[int, AgentMemory] = {}
DOORS: tuple[Callable[[Scope], None], ...] = (
    add, add_many, update, talk, history, graph, episodes, procedures, working, items,
)  # fmt: skip


@pytest.fixture(params=[each.__name__ for each in DOORS])
def door(request: pytest.FixtureRequest) -> Callable[[Scope], None]:
    return next(each for each in DOORS if each.__name__ == request.param)


def scope_of(memory: AgentMemory) -> Scope:
    scope = memory.scope(user="zoe")
    _MEMORIES[id(scope._engine)] = memory
    return scope


def bytes_of(folder: Path) -> bytes:
    return b"".join(file.read_bytes() for file in sorted(folder.rglob("*")) if file.is_file())


@pytest.mark.sqlite_only
@pytest.mark.parametrize("mode", ["mask", "vault"])
def test_e1_no_byte_of_it_reaches_the_file_the_embedder_or_the_log(
    door: Callable[[Scope], None], mode: str, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    embedder = Seeing()
    with caplog.at_level(logging.DEBUG), opened(mode, tmp_path / "m.db", embedder=embedder) as memory:
        scope = scope_of(memory)
        door(scope)
        scope.session("s").context(TOLD)
        scope.search(TOLD)
        scope.session("s").end()
        scope.consolidate()
        scope.export(tmp_path / "out.jsonl")
    seen = bytes_of(tmp_path).decode("utf-8", "replace") + "\n".join(embedder.seen) + caplog.text
    for secret in (*SECRETS, "zoe.canary", "Kanarie"):
        assert secret not in seen, secret
        assert secret.encode("unicode_escape").decode() not in seen
    assert ("[email]" if mode == "mask" else "[email:") in seen


def test_e1_refusing_stores_nothing_and_names_the_kinds(door: Callable[[Scope], None]) -> None:
    with opened("refuse") as memory:
        scope = scope_of(memory)
        with pytest.raises(InvalidInput) as refused:
            door(scope)
        assert "refuse" in str(refused.value)
        assert not any(secret in str(refused.value) for secret in SECRETS)
        assert [record.text for record in scope.list() if record.text != "tea"] == []
        assert [
            hit.record.text for hit in scope.search(TOLD) if hit.record.text != "tea"
        ] == []  # a question is answered: it is labelled, and not refused


# ---------------------------------------------------------------------- masked


def test_e1_masked_text_says_what_was_there() -> None:
    with opened("mask") as memory:
        scope = memory.scope(user="zoe")
        assert scope.add(TOLD).text == MASKED
        assert scope.reveal(MASKED) == MASKED
        assert vaulted(memory) == []


def test_e1_off_is_the_default_and_leaves_every_text_as_it_is() -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        assert memory.scope(user="zoe").add(TOLD).text == TOLD


def test_e1_a_redactor_of_ones_own_comes_after_and_works_alone() -> None:
    own = {"redactor": lambda text: text.replace("Lyon", "***").replace("[email]", "<mail>")}
    with opened("mask", settings=own) as memory:
        assert memory.scope(user="zoe").add(f"In Lyon: {EMAIL}").text == "In ***: <mail>"
    with AgentMemory.open(embedder="hashing", settings=own) as memory:
        scope = memory.scope(user="zoe")
        assert scope.add("I live in Lyon").text == "I live in ***"
        assert scope.search("I live in Lyon")[0].score == 1.0  # a question goes the same way


def test_e1_a_hook_for_names_reaches_what_is_stored() -> None:
    def hook(text: str) -> list[tuple[int, int, str]]:
        return [(at, at + 2, "PER")] if (at := text.find("王芳")) >= 0 else []

    with opened("mask", redaction={"hook": hook}) as memory:
        assert memory.scope(user="zoe").add("王芳的手机是13800138000").text == "[name]的手机是[phone]"


def test_e1_only_chosen_kinds() -> None:
    with opened("mask", redaction={"kinds": ("phone",)}) as memory:
        assert memory.scope(user="zoe").add(f"{EMAIL} {PHONE}").text == f"{EMAIL} [phone]"


@pytest.mark.parametrize("mode", ["mask", "vault"])
def test_e1_a_question_with_the_value_finds_what_was_told(mode: str) -> None:
    with opened(mode) as memory:
        scope = memory.scope(user="zoe")
        scope.add_many(["Tea is in the kitchen", "The bike is red", f"Write to Bob at {EMAIL}", f"紧急联系人是{PHONE}"])
        assert scope.search(f"Who is {EMAIL}?", k=1)[0].record.text.startswith("Write to Bob at [email")
        assert scope.search(f"{PHONE}是谁", k=1)[0].record.text.startswith("紧急联系人是[phone")
        assert scope.search([{"role": "user", "content": f"Who is {EMAIL}?"}], k=1)[0].record.text.startswith("Write")
        assert scope.search(f"Write to Bob at {EMAIL}", k=1)[0].score == 1.0


def test_e1_facts_are_read_from_the_redacted_turn_with_or_without_an_llm() -> None:
    answer = f'[{{"text": "User has the mail {EMAIL}", "subject": "user", "predicate": "mail", "object": "{EMAIL}"}}]'
    for mode in ("mask", "vault", "refuse"):
        with opened(mode, llm=ScriptedLLM([answer] * 4)) as memory:
            scope = memory.scope(user="zoe")
            scope.session("s").add_messages([{"role": "user", "content": "I like green tea a lot"}])
            memory.flush()
            texts = [record.text for record in scope.list()]
            assert "User has the mail [email]" in texts  # nothing an LLM makes up is refused, or kept
            assert not any(EMAIL in text for text in texts)


def test_e1_ids_and_keys_stay_as_they_are() -> None:
    with opened("mask") as memory:
        scope = memory.scope(user="13800138000", agent="a@example.com")
        kept = scope.add("tea", id="4111111111111111", metadata={"order_id": "13800138000", "13900139000": 1})
        assert kept.id == "4111111111111111"
        assert kept.metadata == {"order_id": "13800138000", "13900139000": 1}
        scope.session("6222945807302157367").add_messages([{"role": "user", "content": "hi", "id": "13700137000"}])
        assert scope.sessions() == ["6222945807302157367"]
        assert scope.session("6222945807302157367").messages()[0].id == "13700137000"
        assert memory.users() == ["13800138000"]


# ---------------------------------------------------------------------- the vault


def test_e1_the_vault_gives_the_value_back_to_its_scope_only() -> None:
    with opened("vault") as memory:
        scope, other = memory.scope(user="zoe"), memory.scope(user="zoe", agent="other")
        kept = scope.add(TOLD).text
        assert scope.reveal(kept) == TOLD
        assert other.reveal(kept) == kept
        assert scope.reveal("[email:bbbbbbbbbbbbbb] [email]") == "[email:bbbbbbbbbbbbbb] [email]"
        assert other.add(TOLD).text != kept


async def test_e1_the_async_twins() -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        kept = await scope.aadd(TOLD)
        assert await scope.areveal(kept.text) == TOLD
        assert await scope.aprivate() == []


def test_e1_the_same_value_has_the_same_token_everywhere_in_a_scope() -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        first = scope.add(f"Mail {EMAIL}").text.removeprefix("Mail ")
        scope.session("s").add_messages([{"role": "user", "content": f"It is {EMAIL}"}])
        scope.graph.add("Zoe", "mail", EMAIL)
        working(scope)
        assert scope.session("s").messages()[0].text == f"It is {first}"
        assert first in [each.name for each in scope.graph.neighbours("Zoe")]
        assert first in scope.session("s").working.text()
        assert scope.reveal(first) == EMAIL
        assert len([row for row in vaulted(memory) if row[1].startswith("[email:")]) == 1


@pytest.mark.parametrize("door", [graph, working, episodes, procedures, update, items], ids=lambda each: each.__name__)
def test_e1_what_every_door_took_in_can_be_revealed(door: Callable[[Scope], None]) -> None:
    with opened("vault") as memory:
        scope = scope_of(memory)
        door(scope)
        assert vaulted(memory)
        for _, token in vaulted(memory):
            assert scope.reveal(token) in SECRETS


def test_e1_a_queued_write_brings_its_secrets() -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        with memory.background():
            kept = scope.add(TOLD).text
            scope.session("s").add_messages([{"role": "user", "content": PHONE}])
            memory.flush()
        assert scope.reveal(kept) == TOLD
        assert scope.reveal(scope.session("s").messages()[0].text) == PHONE


def test_e1_secrets_go_with_the_last_text_that_mentions_them() -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        one, two = scope.add(f"Mail {EMAIL}"), scope.add(f"Still {EMAIL}, call {PHONE}")
        scope.delete(one.id)
        assert scope.reveal(two.text) == f"Still {EMAIL}, call {PHONE}"
        assert scope.delete(two.id).erased["vault"] == 2
        assert vaulted(memory) == []
        again = scope.add(f"Mail {EMAIL}")
        assert scope.reveal(again.text) == f"Mail {EMAIL}"


def test_e1_purge_lets_go_of_what_nothing_mentions_and_of_nothing_else() -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        record = scope.add(f"Mail {EMAIL}")
        scope.graph.add("Zoe", "phone", PHONE)
        scope.session("s").working.start("t", f"Charge {CARD}")
        before = len(vaulted(memory))
        memory.purge()
        assert len(vaulted(memory)) == before == 3
        scope.session("s").delete()
        scope.graph.delete("Zoe")
        memory.purge()
        assert [scope.reveal(token) for _, token in vaulted(memory)] == [EMAIL]
        assert scope.reveal(record.text) == f"Mail {EMAIL}"


@pytest.mark.parametrize("way", ["delete_all", "forget"])
def test_e1_a_scope_takes_its_vault_along(way: str) -> None:
    with opened("vault") as memory:
        for user in ("zoe", "ann"):
            memory.scope(user=user).add(TOLD)
        memory.scope(user="zoe").delete_all() if way == "delete_all" else memory.forget("zoe")
        assert len({scope for scope, _ in vaulted(memory)}) == 1
        assert memory.check().problems == ()


def test_e1_what_lies_in_the_archive_keeps_its_secrets_until_it_is_erased(tmp_path: Path) -> None:
    settings = {"archive": {"address": str(tmp_path)}}
    with opened("vault", settings=settings) as memory:
        scope = memory.scope(user="zoe")
        scope.session("s").add_messages([{"role": "user", "content": f"Mail me at {EMAIL}"}])
        text = scope.session("s").messages()[0].text
        for fact in scope.list(kinds=["fact", "event", "summary"]):
            scope.delete(fact.id)
        scope.archive.session("s")
        memory.purge()
        assert scope.reveal(text) == f"Mail me at {EMAIL}"
        scope.session("s").delete()
        assert vaulted(memory) == []


@pytest.mark.sqlite_only
def test_e1_the_vault_survives_reopening_and_is_sealed(tmp_path: Path) -> None:
    with opened("vault", tmp_path / "m.db") as memory:
        kept = memory.scope(user="zoe").add(TOLD).text
    with opened("vault", tmp_path / "m.db") as memory:
        scope = memory.scope(user="zoe")
        assert scope.reveal(kept) == TOLD
        with memory._live().store.write() as tx:
            rows = tx.rows("vault_tokens")
            sealed = tx.rows("vault_secret", rows[0])[0][0]
            tx.run("drop_vault", rows[1])
            tx.run("add_vault", (rows[1][0], rows[1][1], sealed, 0))  # one value passed off as another
        with pytest.raises(StoreDamaged):
            scope.reveal(rows[1][1])


def test_e1_an_export_carries_tokens_and_no_values(tmp_path: Path) -> None:
    with opened("vault") as memory:
        scope = memory.scope(user="zoe")
        kept = scope.add(TOLD).text
        scope.export(tmp_path / "out.jsonl")
        other = memory.scope(user="ann")
        other.import_(tmp_path / "out.jsonl")
        assert [record.text for record in other.list(kinds=["fact"])] == [kept]
        assert other.reveal(kept) == kept


# ---------------------------------------------------------------------- imports


@pytest.mark.parametrize("mode", ["mask", "vault", "refuse"])
def test_e1_an_import_goes_through_it(mode: str, tmp_path: Path) -> None:
    with AgentMemory.open(embedder="hashing") as plain:
        scope = scope_of(plain)
        for door in (add, talk, graph, episodes, working):
            door(scope)
        scope.export(tmp_path / "plain.jsonl")
    with opened(mode) as memory:
        scope = memory.scope(user="zoe")
        if mode == "refuse":
            with pytest.raises(InvalidInput, match="refuse"):
                scope.import_(tmp_path / "plain.jsonl")
            assert scope.list() == []
            return
        scope.import_(tmp_path / "plain.jsonl")
        scope.export(tmp_path / "masked.jsonl")
        out = (tmp_path / "masked.jsonl").read_text(encoding="utf-8")
        assert not any(secret in out for secret in SECRETS)
        if mode == "vault":
            assert {scope.reveal(token) for _, token in vaulted(memory)} == set(SECRETS)


# ---------------------------------------------------------------------- looking for it afterwards


def test_e1_a_memory_from_before_tells_which_records_hold_private_data(tmp_path: Path) -> None:
    with AgentMemory.open(tmp_path / "m.db", embedder="hashing") as memory:
        scope = memory.scope(user="zoe")
        held = scope.add(TOLD, metadata={"password": PASSWORD})
        scope.add("I like tea")
        found = scope.private()
        assert [(each.id, each.kinds) for each in found] == [
            (held.id, {"email": 1, "phone": 1, "bank_card": 1, "password": 2})
        ]


@pytest.mark.sqlite_only
@pytest.mark.parametrize("mode", ["mask", "vault"])
def test_e1_a_memory_from_before_is_rewritten_and_no_byte_is_left(mode: str, tmp_path: Path) -> None:
    with AgentMemory.open(tmp_path / "m.db", embedder="hashing") as memory:
        scope = memory.scope(user="zoe")
        for door in (add, add_many, update, talk):
            door(scope)
        assert {each.kind.value for each in scope.private()} >= {"turn", "fact"}
    with opened(mode, tmp_path / "m.db") as memory:
        scope = memory.scope(user="zoe")
        told = [message.role for message in scope.session("s").messages()]
        assert scope.redact()
        assert scope.private() == scope.redact() == []
        assert [message.role for message in scope.session("s").messages()] == told
        if mode == "vault":
            assert scope.reveal(scope.session("s").messages()[0].text) == TOLD
        assert memory.purge()
    left = bytes_of(tmp_path).decode("utf-8", "replace")
    assert [secret for secret in SECRETS if secret in left] == []


def test_e1_without_a_mode_nothing_is_rewritten() -> None:
    with AgentMemory.open(embedder="hashing") as memory, pytest.raises(InvalidInput, match="mask"):
        memory.scope(user="zoe").redact()
