"""The page without a browser: who may come in, what each address shows and does, and that nothing on it acts."""

from __future__ import annotations

import json
import re
from html import unescape
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from shared_core import AgentMemory, Scope
from shared_core.testing import ManualClock
from shared_core.ui.desk import MEMORY, SESSION, Desk
from shared_core.ui.guard import HEADERS, Guard
from shared_core.ui.web import CHANGE, READ

ALICE = {"user": "alice", "agent": "default"}
HOSTILE = (
    '<script>alert(1)</script><img src=x onerror=alert(2)> {{ 7*7 }} {% raw %} ${7*7} "onmouseover="x '
    "\x1b[31mred\x1b[0m \u202eevil\u202c \x00 </textarea></title><svg onload=alert(3)> javascript:alert(4) &lt;b&gt;"
)


def change(page: TestClient, guard: Guard, to: str, **form: str) -> tuple[int, str]:
    answer = page.post(to, data={"csrf": guard.csrf, **ALICE, **form})
    return answer.status_code, answer.headers.get("location", answer.text)


# ---------------------------------------------------------------------- who may come in


@pytest.mark.parametrize("path", [*READ, "/static/page.js", "/nowhere"])
def test_e3_without_the_token_nothing_is_shown(outside: TestClient, alice: Scope, path: str) -> None:
    answer = outside.get(path, params=ALICE)
    assert answer.status_code == 403
    assert "blue pot" not in answer.text


def test_e3_a_wrong_token_and_a_made_up_cookie_are_refused(outside: TestClient, guard: Guard, alice: Scope) -> None:
    assert outside.get("/", params={"token": "wrong"}).status_code == 403
    assert outside.get("/", params={"token": "é" * 43}).status_code == 403
    for made_up in ("", "x", guard.token, guard.csrf):
        outside.cookies.set(guard.cookie, made_up)
        assert outside.get("/memories", params=ALICE).status_code == 403


def test_e3_the_token_leaves_the_address_and_the_cookie_is_for_this_page_only(
    outside: TestClient, guard: Guard
) -> None:
    answer = outside.get("/", params={"token": guard.token})
    assert (answer.status_code, answer.headers["location"]) == (303, "/")
    cookie = answer.headers["set-cookie"]
    assert guard.token not in cookie
    assert {"httponly", "samesite=strict", "path=/"} <= {part.strip().lower() for part in cookie.split(";")}


@pytest.mark.parametrize(
    "host", ["evil.example", "evil.example:8765", "127.0.0.1", "127.0.0.1:1", "localhost.evil.example:8765", ""]
)
def test_e3_a_name_that_was_pointed_here_is_refused(page: TestClient, alice: Scope, host: str) -> None:
    assert page.get("/memories", params=ALICE, headers={"host": host}).status_code == 421


def test_e3_nothing_may_be_kept_framed_or_fetched_from_elsewhere(page: TestClient, alice: Scope) -> None:
    for path in (*READ, "/static/page.js", "/nowhere"):
        answer = page.get(path, params=ALICE)
        for name, value in HEADERS.items():
            assert answer.headers[name] == value, path
    assert "unsafe" not in HEADERS["content-security-policy"]
    assert HEADERS["content-security-policy"].startswith("default-src 'self'")


@pytest.mark.parametrize("path", CHANGE)
def test_e3_a_change_needs_its_secret_and_our_own_origin(
    page: TestClient, guard: Guard, alice: Scope, path: str
) -> None:
    before = [(record.id, record.text, record.pinned) for record in alice.list()]
    form = {**ALICE, "id": "key", "session": "monday", "name": "alice", "text": "changed", "back": "/"}
    assert page.post(path, data=form).status_code == 403
    assert page.post(path, data={**form, "csrf": "0" * 64}).status_code == 403
    forged = page.post(path, data={**form, "csrf": guard.csrf}, headers={"origin": "http://evil.example"})
    assert forged.status_code == 403
    assert page.get(path, params={**form, "csrf": guard.csrf}).status_code == 405
    assert [(record.id, record.text, record.pinned) for record in alice.list()] == before


def test_a_form_without_end_is_refused(page: TestClient, guard: Guard) -> None:
    body = b"csrf=" + guard.csrf.encode() + b"&text=" + b"x" * 17_000_000
    assert page.post("/memory/add", content=body).status_code == 403


# ---------------------------------------------------------------------- what is shown


def test_e3_every_page_answers_in_both_languages(page: TestClient, alice: Scope) -> None:
    for path in READ:
        given = {**ALICE, "id": "key", "session": "monday"} | ({"q": "Where is the key?"} if path == "/context" else {})
        if path == "/export":
            continue
        for tongue in ("en", "zh"):
            answer = page.get(path, params=given, headers={"accept-language": tongue})
            assert answer.status_code in (200, 303), (path, answer.text)
            if answer.status_code == 200 and path != "/memory/score":
                assert f'<html lang="{"zh-Hans" if tongue == "zh" else "en"}"' in answer.text
                assert ("跳到内容" in answer.text) is (tongue == "zh")


def test_e3_memories_are_found_filtered_and_ordered(page: TestClient, alice: Scope) -> None:
    def texts(**given: str | list[str]) -> list[str]:
        answer = page.get("/memories", params={**ALICE, **given}, headers={"hx-request": "true"})
        assert answer.status_code == 200
        return [unescape(text) for text in re.findall(r'<bdi dir="auto">(.*?)</bdi></a></p>', answer.text)]

    key, dentist = "The spare key is under the blue pot", "Dentist on Friday"
    assert texts(q="spare key")[0] == key
    assert texts(q="乌龙茶")[0] == "我喜欢乌龙茶"
    assert texts(type="plan") == [dentist]
    assert texts(source="notes") == [key]
    assert set(texts(session="monday", kind="turn")) == {"I live in Lyon and I work at ACME", "Noted.", "我喜欢乌龙茶"}
    assert key in texts(importance="0.8")
    assert dentist not in texts(importance="0.8")
    assert texts(q="key", importance="0.79", source="notes") == [key]
    assert texts(since="2026-01-02") == []
    assert dentist in texts(since="2026-01-01", until="2026-01-01")
    assert texts(order="-event_time", kind=["fact", "rule"])[0] == dentist
    assert texts(order="created_at")[0] == "I live in Lyon and I work at ACME"
    assert texts(pinned="1") == []
    alice.update("key", pinned=True)
    assert texts(pinned="1") == [key]


def test_e3_what_was_replaced_is_shown_when_asked_for(page: TestClient, memory: AgentMemory, alice: Scope) -> None:
    alice.session("tuesday").add_messages([{"role": "user", "content": "I moved to Berlin last week"}])
    old = page.get("/memories", params={**ALICE, "status": "superseded"}).text
    assert "I live in Lyon" in old
    assert "The spare key" not in old
    [lyon] = alice.list(where={"status": "superseded"})
    shown = page.get("/memory", params={**ALICE, "id": lyon.id}).text
    assert "I moved to Berlin last week" in shown
    assert "superseded" in shown


@pytest.mark.parametrize(
    "wrong",
    [
        {"order": "colour"},
        {"kind": "dream"},
        {"importance": "2"},
        {"since": "soon"},
        {"status": "odd"},
        {"after": "nobody"},
    ],
)
def test_bad_input_is_told_and_breaks_nothing(page: TestClient, alice: Scope, wrong: dict[str, str]) -> None:
    for part in ({}, {"hx-request": "true"}):
        answer = page.get("/memories", params={**ALICE, **wrong}, headers=part)
        assert answer.status_code in (400, 404)
        assert 'role="alert"' in answer.text


def test_e3_a_page_of_many_goes_on_where_the_last_one_ended(page: TestClient, memory: AgentMemory) -> None:
    memory.scope(user="bob").add_many([f"note {n}" for n in range(120)])
    where, seen = "/memories?user=bob&agent=default", list[str]()
    for _ in range(5):
        answer = page.get(where, headers={"hx-request": "true"})
        seen += re.findall(r">(note \d+)<", answer.text)
        following = re.search(r'hx-get="([^"]+)"', answer.text)
        if following is None:
            break
        where = unescape(following[1])
    assert seen == [f"note {n}" for n in range(120)] or seen == [f"note {n}" for n in reversed(range(120))]
    assert "120 memories." in page.get("/memories?user=bob&agent=default").text


def test_e3_one_memory_tells_where_it_came_from_and_what_a_search_makes_of_it(page: TestClient, alice: Scope) -> None:
    fact = next(record for record in alice.list(kinds=["fact"]) if "ACME" in record.text)
    shown = page.get("/memory", params={**ALICE, "id": fact.id}).text
    for text in ("extractor: rules", "monday", "I live in Lyon and I work at ACME", "Versions and history"):
        assert text in shown
    turn = alice.list(kinds=["turn"])[0]
    assert fact.text in page.get("/memory", params={**ALICE, "id": turn.id}).text
    scored = page.get("/memory/score", params={**ALICE, "id": "key", "q": "Where is the spare key?"}).text
    assert "Place 1 of all memories" in scored
    assert "rank." in scored
    assert alice.get("key").accesses == 0, "to look at a memory is not to recall it"  # type: ignore[union-attr]
    assert page.get("/memory", params={**ALICE, "id": "nobody"}).status_code == 404


def test_e3_graph_timeline_talk_profile_procedures_and_context_show_what_is_kept(
    page: TestClient, alice: Scope
) -> None:
    def shown(path: str, **given: str) -> str:
        return unescape(page.get(path, params={**ALICE, **given}).text)

    assert 'aria-label="Project Alpha"' in shown("/graph")
    assert "As a list" in shown("/graph")
    assert "Python" not in shown("/graph", name="Bob").split('<figure class="graph-box">')[1]
    assert "<strong><bdi>Bob</bdi></strong>" in shown("/graph", ask="Who leads Project Alpha?")
    assert "Nothing is known of that name" in shown("/graph", name="Nobody")
    assert "Dentist on Friday" in shown("/timeline") or "monday" in shown("/timeline")
    assert "2026-01-01" in shown("/timeline")
    talk = shown("/session", session="monday")
    for text in ("我喜欢乌龙茶", "Find a flat in Berlin", "Sign before June", "three flats found"):
        assert text in talk
    assert 'value="Lyon"' in shown("/profile")
    assert "read the log" in shown("/procedures", q="a deployment fails")
    context = shown("/context", q="Where is the spare key?")
    assert "The spare key is under the blue pot" in context
    assert "of 2,000 tokens" in context
    assert "no room for it" in shown("/context", q="Where is the spare key?", tokens="60")


# ---------------------------------------------------------------------- changes


def test_e3_edit_pin_confirm_and_add(page: TestClient, guard: Guard, alice: Scope) -> None:
    edited = {
        "text": "The key is with Bob",
        "type": "place",
        "importance": "0.9",
        "confidence": "1.00",
        "event_time": "2026-05-01T08:30",
    }
    status, to = change(page, guard, "/memory/edit", id="key", **edited)
    assert (status, to) == (303, "/memory?user=alice&agent=default&id=key")
    record = alice.get("key")
    assert record is not None
    assert (record.text, record.type, record.importance, f"{record.event_time:%d %H:%M}") == (
        "The key is with Bob",
        "place",
        0.9,
        "01 08:30",
    )
    assert "The spare key is under the blue pot" in page.get(to).text, "the history tells the old text"
    change(page, guard, "/memory/pin", id="key", pinned="1")
    assert alice.get("key").pinned  # type: ignore[union-attr]
    change(page, guard, "/memory/pin", id="key", pinned="0")
    assert not alice.get("key").pinned  # type: ignore[union-attr]
    change(page, guard, "/memory/confirm", id="key")
    assert alice.get("key").confirmed_at is not None  # type: ignore[union-attr]
    change(page, guard, "/memory/add", text="我养了一只猫")
    assert "我养了一只猫" in {record.text for record in alice.list()}
    assert change(page, guard, "/memory/edit", id="key", text="  ")[0] == 400
    assert alice.get("key").text == "The key is with Bob"  # type: ignore[union-attr]


def test_saving_a_form_as_it_is_changes_nothing(page: TestClient, guard: Guard, alice: Scope) -> None:
    alice.add("one\ntwo\r\nthree \x00 four", id="odd", importance=1 / 3)
    before = alice.get("odd")
    text = before.text.replace("\r\n", "\n").replace("\n", "\r\n").replace("\x00", "\ufffd")  # type: ignore[union-attr]
    change(
        page, guard, "/memory/edit", id="odd", text=text, type="", importance="0.33", confidence="1.00", event_time=""
    )
    assert alice.get("odd") == before


def test_e3_a_deletion_waits_until_it_is_confirmed(page: TestClient, guard: Guard, desk: Desk, alice: Scope) -> None:
    change(page, guard, "/memory/delete", id="key")
    assert alice.get("key") is not None, "nothing is gone yet"
    shown = page.get("/memories", params=ALICE).text
    assert "1 waiting to be deleted" in shown
    assert "Will be deleted when you confirm" in shown
    change(page, guard, "/memory/undo", id="key")
    assert not desk.held(alice)
    assert "waiting to be deleted. Nothing" not in page.get("/memories", params=ALICE).text
    change(page, guard, "/memory/delete", id="key")
    change(page, guard, "/session/delete", session="monday")
    assert list(desk.held(alice)) == [(MEMORY, "key"), (SESSION, "monday")]
    change(page, guard, "/waiting/undo", what="session", id="monday")
    answer = page.post("/waiting/confirm", data={"csrf": guard.csrf, **ALICE})
    assert "1 records are gone." in answer.text
    assert "Nothing of it is left" in answer.text
    assert alice.get("key") is None
    assert alice.sessions() == ["monday"]
    assert alice.search("spare key", k=50)
    assert "key" not in {hit.record.id for hit in alice.search("spare key", k=50)}
    assert change(page, guard, "/waiting/confirm")[0] == 400


def test_e3_a_conversation_goes_with_what_came_only_from_it(page: TestClient, guard: Guard, alice: Scope) -> None:
    change(page, guard, "/session/delete", session="monday")
    page.post("/waiting/confirm", data={"csrf": guard.csrf, **ALICE})
    assert alice.sessions() == []
    assert not [record for record in alice.list() if "Lyon" in record.text]


@pytest.mark.parametrize("which", ["one", "all"])
def test_e3_all_of_a_user_goes_when_the_name_is_written_out(
    page: TestClient, guard: Guard, memory: AgentMemory, alice: Scope, which: str
) -> None:
    memory.scope(user="alice", agent="travel").add("window seats")
    memory.scope(user="bob").add("stays")
    wrong = page.post("/everything/delete", data={"csrf": guard.csrf, **ALICE, "name": "bob", "agents": which})
    assert wrong.status_code == 400
    assert "Nothing was deleted" in wrong.text
    assert alice.count() > 0
    done = page.post("/everything/delete", data={"csrf": guard.csrf, **ALICE, "name": "alice", "agents": which})
    assert "Nothing of it is left" in done.text
    assert alice.count() == 0
    assert memory.scope(user="bob").count() == 1
    assert memory.users() == (["alice", "bob"] if which == "one" else ["bob"])


def test_e3_the_export_is_all_of_it_and_can_be_read_again(
    page: TestClient, alice: Scope, memory: AgentMemory, tmp_path: Path
) -> None:
    answer = page.get("/export", params=ALICE)
    assert answer.headers["content-disposition"] == 'attachment; filename="memory.jsonl"'
    for line in answer.text.splitlines():
        json.loads(line)
    file = tmp_path / "back.jsonl"
    file.write_text(answer.text, encoding="utf-8")
    back = memory.scope(user="again")
    back.import_(file)
    assert sorted(record.text for record in back.list()) == sorted(record.text for record in alice.list())


def test_e3_questions_profile_and_procedures_can_be_settled_here(page: TestClient, guard: Guard) -> None:
    with AgentMemory.open(embedder="hashing", settings={"facts": {"strategy": "ask"}}) as memory:
        scope = memory.scope(user="alice")
        scope.add("I live in Lyon", triple=("user", "lives in", "Lyon"))
        scope.add("I live in Rome", triple=("user", "lives in", "Rome"))
        [question] = scope.questions()
        from shared_core.ui.web import application

        with TestClient(
            application(Desk(memory, "x"), guard), base_url="http://127.0.0.1:8765", follow_redirects=False
        ) as own:
            own.cookies.set(guard.cookie, guard.session)
            assert "1 questions wait" in own.get("/memories", params=ALICE).text
            assert "Rome" in own.get("/questions", params=ALICE).text
            assert change(own, guard, "/questions/answer", id=question.id, choice="maybe")[0] == 400
            change(own, guard, "/questions/answer", id=question.id, choice="new")
            assert scope.questions() == []
            assert [r.text for r in scope.list()] == ["I live in Rome"]
            change(own, guard, "/profile/change", key="home", do="set", text="Rome, 台伯河边")
            assert "台伯河边" in own.get("/profile", params=ALICE).text
            change(own, guard, "/profile/change", key="home", do="remove")
            assert scope.profile.get("home") is None
            assert "Show again" in own.get("/profile", params=ALICE).text
            change(own, guard, "/profile/change", key="home", do="reset")
            assert scope.profile.get("home").text == "Rome"  # type: ignore[union-attr]
            rule = scope.procedures.add("It breaks", ["mend it"])
            change(own, guard, "/procedures/outcome", id=rule.id, success="1")
            assert scope.procedures.get(rule.id).successes == 1  # type: ignore[union-attr]


def test_the_colours_and_the_language_are_kept_and_only_lead_back_here(page: TestClient, guard: Guard) -> None:
    answer = page.post(
        "/look", data={"csrf": guard.csrf, "theme": "dark", "language": "zh", "back": "/stats?user=alice"}
    )
    assert answer.headers["location"] == "/stats?user=alice"
    assert "theme=dark" in str(answer.headers)
    assert "language=zh" in str(answer.headers)
    for away in ("//evil.example", "https://evil.example", "/\\evil.example", ""):
        assert page.post("/look", data={"csrf": guard.csrf, "theme": "dark", "back": away}).status_code == 404


# ---------------------------------------------------------------------- hostile text


def test_e3_hostile_text_is_text_everywhere(page: TestClient, guard: Guard, memory: AgentMemory) -> None:
    name = "<b>ev\u202eil</b>{{7*7}}"
    scope = memory.scope(user=name, agent="<i>a</i>")
    record = scope.add(
        HOSTILE, type="<u>t</u>", source="<s>s</s>", metadata={"<k>": HOSTILE}, entities=["<e>Bob</e>"], id="<id>"
    )
    scope.session("<h1>s</h1>").add_messages(
        [{"role": "user", "content": HOSTILE, "id": "<m>", "name": "<n>N</n>"},
         {"role": "assistant", "content": None, "tool_calls": [{"id": "1", "name": "<t>", "args": {"x": HOSTILE}}]}]
    )  # fmt: skip
    scope.session("<h1>s</h1>").working.start("<id>", HOSTILE)
    scope.graph.add("<a>X</a>", "<p>likes</p>", HOSTILE[:60])
    scope.procedures.add(HOSTILE, [HOSTILE])
    scope.profile.set("<key>", HOSTILE)
    given = {
        "user": name,
        "agent": "<i>a</i>",
        "id": record.id,
        "session": "<h1>s</h1>",
        "q": HOSTILE,
        "name": "<a>X</a>",
    }
    change(page, guard, "/memory/delete", **{"user": name, "agent": "<i>a</i>", "id": record.id})
    for path in READ:
        if path == "/export":
            continue
        for only in (given, {k: v for k, v in given.items() if k not in ("q", "name")}):
            html = page.get(path, params=only).text
            assert not re.search(
                r"<(?:script>|img|svg onload|b>|i>|u>t|s>s|h1>s|e>|n>|k>|key>|p>likes|t>|m>|id>)", html
            ), path
            assert not re.search(r"\son\w+\s*=\s*[\"']?(?:alert|x\b)", re.sub(r">[^<]*<|=\"[^\"]*\"", "", html)), path
            assert "49" not in re.findall(r"\{\{ ?7\*7 ?\}\}|\b49\b", html), path
            outside_forms = re.sub(r'value="[^"]*"|<textarea.*?</textarea>|<option.*?</option>', "", html, flags=re.S)
            assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202a-\u202e\u2066-\u2069]", outside_forms), path


def test_e3_a_megabyte_is_shown_in_part_and_can_be_edited_whole(
    page: TestClient, guard: Guard, alice: Scope, clock: ManualClock
) -> None:
    alice.add("乌龙茶 " * 250_000, id="long")
    assert len(page.get("/memories", params=ALICE).text) < 100_000
    shown = page.get("/memory", params={**ALICE, "id": "long"}).text
    assert "Show the other 980,000 characters" in shown
    clock.advance(seconds=1)
    status, _ = change(page, guard, "/memory/edit", id="long", text="红茶 " * 250_000)
    assert status == 303
    assert alice.get("long").text.startswith("红茶")  # type: ignore[union-attr]
