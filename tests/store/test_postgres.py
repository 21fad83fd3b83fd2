"""PostgreSQL under the same memory: many writers, a server that restarts, one user's rows for one user's handle."""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

from shared_core import AgentMemory, Message
from shared_core.errors import InvalidInput, StoreBusy, StoreError, StoreTooNew, StoreUnavailable
from shared_core.evaluation.reading import read
from shared_core.store.copying import tables
from shared_core.store.migrating import migrations
from shared_core.store.postgres import Address, PostgresStore
from shared_core.store.sql import statements
from shared_core.store.sql.dialect import statement
from tests.conftest import LONG
from tests.servers import Server, started


@pytest.fixture
def address(server: Server) -> Iterator[str]:
    yield server.address(server.schema_of(None))
    server.clean()


def opened(address: str, **options: object) -> AgentMemory:
    return AgentMemory.open(address, embedder="hashing", **options)  # type: ignore[arg-type]


def told(memory: AgentMemory, user: str = "alice") -> list[str]:
    return sorted(record.text for record in memory.scope(user=user).list())


LOCOMO = Path(__file__).parents[3] / "shared" / "data" / "locomo-dev.json"
TALK = [
    ("Ann", "I moved to Lyon in May, near the old bridge"), ("Ben", "How lovely! Do you speak French?"),
    ("Ann", "My sister Mia teaches me on Tuesdays"), ("Ben", "我也想学法语"), ("Ann", "我们可以一起学，周二晚上八点"),
    ("Ben", "I sold my red bike to pay for the course"), ("Ann", "Lyon is best by bike, buy it back!"),
]  # fmt: skip
ASKED = [
    "Where does Ann live?",
    "Who teaches French?",
    "When do they learn?",
    "周二几点学法语？",
    "What was sold, and why?",
]


def conversations() -> Iterator[tuple[str, dict[str, list[Message]], list[str]]]:
    """A name, sessions and questions: an invented talk, and LoCoMo's where that is at hand (the first; all in the long form)."""
    yield "invented", {"s": [Message(role="user", name=name, content=said) for name, said in TALK]}, ASKED
    if LOCOMO.exists():
        for sample in read([LOCOMO], limit=None if LONG else 1)[0].samples:
            sessions = {name: list(messages) for name, messages in sample.sessions.items()}
            yield sample.name, sessions, [question.text for question in sample.questions]


# ---------------------------------------------------------------------- the same answers


def test_recall_is_the_same_to_the_digit_as_on_a_file(address: str, tmp_path: Path) -> None:
    for name, sessions, questions in conversations():
        with AgentMemory.open(tmp_path / f"{name}.db") as here, AgentMemory.open(address) as there:
            scopes = [memory.scope(user=name) for memory in (here, there)]
            for scope in scopes:
                for session, messages in sessions.items():
                    scope.session(session).add_messages(messages)
            compared = 0
            for question in questions:
                file, server = [
                    [(hit.record.session, hit.record.text, hit.score) for hit in scope.search(question, k=50)]
                    for scope in scopes
                ]
                assert file == server, question
                compared += len(file)
            assert compared > 2 * len(questions)


# ---------------------------------------------------------------------- the statements


def test_a_server_understands_every_statement(server: Server, address: str) -> None:
    opened(address).close()
    spelled = {name: statement(text) for name, text in statements("sqlite").items()} | statements("postgres")
    with psycopg.connect(server.uri, autocommit=True) as connection:
        connection.execute(f'SET search_path TO "{Address(address).schema}"')
        for name, text in spelled.items():
            connection.execute(f"PREPARE {name} AS {_numbered(text)}")


def _numbered(text: str) -> str:
    names: dict[str, int] = {}

    def number(found: re.Match[str]) -> str:
        key = found[1] or str(len(names))
        return f"${names.setdefault(key, len(names) + 1)}"

    return re.sub(r"%(?:\((\w+)\))?s", number, text).replace("%%", "%")


def test_what_is_said_in_another_way_is_said_for_a_statement_that_exists() -> None:
    assert {*statements("postgres")} <= {*statements("sqlite")}


def test_the_tables_are_those_of_the_file(server: Server, address: str) -> None:
    opened(address).close()
    with psycopg.connect(server.uri) as connection:
        found = connection.execute(
            "SELECT table_name, column_name FROM information_schema.columns WHERE table_schema = %s AND is_generated = 'NEVER'",
            (Address(address).schema,),
        ).fetchall()
    made = {name: {column for table, column in found if table == name} for name, _ in found}
    assert made.pop("schema_version") == {"version", "applied_at"}
    assert made == {name: {*columns} for name, columns in tables().items()}


# ---------------------------------------------------------------------- the address


@pytest.mark.parametrize(
    ("url", "schema", "shown"),
    [
        ("postgresql://me:secret@db.example/app", "twinmem", "postgresql://db.example/app?schema=twinmem"),
        ("postgresql://db/app?schema=mine&sslmode=require", "mine", "postgresql://db/app?schema=mine"),
    ],
)
def test_an_address_is_shown_without_its_password(url: str, schema: str, shown: str) -> None:
    found = Address(url)
    assert (found.schema, found.shown) == (schema, shown)
    assert "schema" not in found.conninfo


@pytest.mark.parametrize("schema", ["a b", 'a"; DROP SCHEMA public; --', "", "ü", "x" * 61])
def test_a_schema_is_a_plain_name(schema: str) -> None:
    with pytest.raises(InvalidInput):
        Address(f"postgresql://db/app?schema={schema}")


def test_a_server_that_is_not_there_is_a_clear_error() -> None:
    with pytest.raises(StoreUnavailable, match="can't be reached") as raised:
        opened("postgresql://me:secret@127.0.0.1:1/app", settings={"busy_timeout": 0.2})
    assert "secret" not in str(raised.value)


def test_e4_a_key_is_for_files(address: str) -> None:
    with pytest.raises(InvalidInput, match="encrypts a file"):
        opened(address, key="secret")


def test_a_schema_of_a_newer_version_is_not_touched(server: Server, address: str) -> None:
    opened(address).close()
    with psycopg.connect(server.uri, autocommit=True) as connection:
        connection.execute(
            f'INSERT INTO "{Address(address).schema}".schema_version VALUES (%s, now())', (migrations()[-1][0] + 1,)
        )
    with pytest.raises(StoreTooNew):
        opened(address)


# ---------------------------------------------------------------------- many writers


WRITER = """
    import sys
    from shared_core import AgentMemory
    with AgentMemory.open(sys.argv[1], embedder="hashing") as memory:
        for n in range(25):
            memory.scope(user="alice").add(f"{sys.argv[2]} {n}")
            memory.scope(user="alice").add("told by all")
            memory.scope(user="alice").session("s").add_messages(
                [{"role": "user", "content": f"{sys.argv[2]} asks {n}"}, {"role": "assistant", "content": f"to {n}"}])
            memory.scope(user=sys.argv[2]).add(f"own {n}")
"""


def test_two_processes_that_make_and_fill_one_memory_lose_nothing(address: str) -> None:
    parts = [
        subprocess.Popen([sys.executable, "-W", "error", "-c", textwrap.dedent(WRITER), address, name])
        for name in ("one", "two")
    ]
    assert [part.wait(120) for part in parts] == [0, 0]
    with opened(address) as memory:
        alice = memory.scope(user="alice")
        facts = alice.list(kinds=["fact"], where={"metadata.x": {"$exists": False}})
        assert sum(record.text == "told by all" for record in facts) == 1
        assert next(record.seen for record in facts if record.text == "told by all") == 50
        assert {f"{name} {n}" for name in ("one", "two") for n in range(25)} <= {record.text for record in facts}
        said = [message.text for message in alice.session("s").messages()]
        assert len(said) == 100
        for place in range(0, 100, 2):
            assert said[place + 1] == f"to {said[place].split()[-1]}"
        assert memory.scope(user="one").count(kinds=["fact"]) == 25
        assert alice.search("two 17", k=1)[0].record.text == "two 17"
        assert memory.check().ok


def test_what_another_process_writes_is_found_at_once(address: str) -> None:
    with opened(address) as memory:
        scope = memory.scope(user="alice")
        scope.add("tea")
        assert scope.search("walrus on ice", k=1)[0].record.text == "tea"
        script = "import sys; from shared_core import AgentMemory\nAgentMemory.open(sys.argv[1], embedder='hashing')"
        script += ".scope(user='alice').add('walrus on ice')"
        subprocess.run([sys.executable, "-c", script, address], check=True, timeout=60)
        assert scope.search("walrus on ice", k=1)[0].record.text == "walrus on ice"


def test_writers_of_one_scope_queue_and_those_of_others_do_not(address: str) -> None:
    with opened(address, settings={"busy_timeout": 0.3}) as memory:
        memory.scope(user="alice").add("tea")
        memory.scope(user="bob").add("tea")
        with memory._live().store.write() as tx:
            assert tx.rows("find_scope", {"user": "alice", "agent": "default"})
            memory.scope(user="bob").add("coffee")
            with pytest.raises(StoreBusy, match="try again"):
                memory.scope(user="alice").add("coffee")
        memory.scope(user="alice").add("milk")
        assert told(memory) == ["milk", "tea"]
        assert told(memory, "bob") == ["coffee", "tea"]


# ---------------------------------------------------------------------- the server goes away


def test_a_restart_in_mid_use_is_a_clear_error_and_then_over() -> None:
    with tempfile.TemporaryDirectory(prefix="twinmem-pg-", ignore_cleanup_errors=True) as folder:  # noqa: SIM117
        with started(Path(folder) / "data", durable=True) as server:
            with opened(server.address("again"), settings={"busy_timeout": 2.0}) as memory:
                scope = memory.scope(user="alice")
                scope.add("before")
                data = str(server.running.pgdata)
                server.control("-m", "immediate", "stop")
                with pytest.raises(StoreUnavailable, match="try again"):
                    scope.add("meanwhile")
                server.control("-o", f'-h "" -k {data}', "-l", f"{data}/log", "start")
                scope.add("walrus")
                assert told(memory) == ["before", "walrus"]
                assert scope.search("walrus", k=1)[0].record.text == "walrus"
                assert memory.check().ok


# ---------------------------------------------------------------------- text


@pytest.mark.parametrize("text", ["a\0b", "\0", "a\1b", "\1\2", "\0\1\1\2\0", "茶\0🐈", "C:\\x00", "100%s %(x)s"])
def test_any_text_comes_back_as_it_was(address: str, text: str) -> None:
    with opened(address) as memory:
        scope = memory.scope(user="alice")
        stored = scope.add(f"tea {text}", metadata={"note": text})
        scope.session("s").add_messages([{"role": "user", "content": text, "id": "m"}])
        assert (stored.text, stored.metadata) == (f"tea {text}", {"note": text})
        assert scope.get(stored.id) == stored
        assert scope.session("s").messages()[0].text == text


# ---------------------------------------------------------------------- one user's rows


@pytest.fixture
def guarded(server: Server, address: str) -> Iterator[str]:
    """The address of a plain role, before which alice and bob have been told something each."""
    with opened(address) as memory:
        for user in ("alice", "bob"):
            scope = memory.scope(user=user)
            scope.add(f"{user} drinks tea", triple=(user, "drinks", "tea"))
            scope.session("s").add_messages([{"role": "user", "content": f"I am {user}"}])
        store = memory._live().store
        assert isinstance(store, PostgresStore)
        with psycopg.connect(server.uri, autocommit=True) as connection:
            connection.execute("DROP ROLE IF EXISTS twinmem_plain")
            connection.execute("CREATE ROLE twinmem_plain LOGIN")
        store.isolate("twinmem_plain")
        store.isolate("twinmem_plain")  # again, which changes nothing
    yield address.replace("postgres:@", "twinmem_plain:@")
    server.clean()
    with psycopg.connect(server.uri, autocommit=True) as connection:
        connection.execute("DROP OWNED BY twinmem_plain")
        connection.execute("DROP ROLE twinmem_plain")


def test_e2_a_role_sees_the_rows_of_its_user_and_no_others(server: Server, guarded: str) -> None:
    with opened(f"{guarded}&user_id=alice") as memory:
        assert memory.users() == ["alice"]
        assert "alice drinks tea" in told(memory)
        assert told(memory, "bob") == []
        assert memory.scope(user="bob").search("tea") == []
        assert memory.scope(user="bob").sessions() == []
        with pytest.raises(StoreError, match="may not do that"):
            memory.scope(user="bob").add("planted")
        assert memory.forget("bob").count == 0
        memory.scope(user="alice").add("more tea")
        assert memory.scope(user="alice").search("more tea", k=1)[0].record.text == "more tea"
    uri = server.uri.replace("postgres:@", "twinmem_plain:@")
    with psycopg.connect(uri, autocommit=True) as connection:  # whatever statement is sent
        connection.execute(f'SET search_path TO "{Address(guarded).schema}"')
        for table in tables():
            if table not in ("meta", "embedder"):
                assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (0,), table  # no user said
        connection.execute("SELECT set_config('twinmem.user', 'bob', false)")
        assert {row[0] for row in connection.execute("SELECT text FROM record WHERE kind = 'turn'")} == {"I am bob"}
        vectors = connection.execute("SELECT count(*) FROM vector").fetchone()
        records = connection.execute("SELECT count(*) FROM record").fetchone()
        assert vectors == records


def test_e2_deletion_under_row_level_security_takes_all_of_one_user_and_nothing_else(
    address: str, guarded: str
) -> None:
    with opened(f"{guarded}&user_id=alice") as memory:
        receipt = memory.forget("alice")
        assert receipt.count >= 2
        assert memory.users() == []
    with opened(address) as memory:
        assert memory.users() == ["bob"]
        assert "bob drinks tea" in told(memory, "bob")
        assert memory.check().ok


# ---------------------------------------------------------------------- from a file and back


def test_a_memory_moves_to_a_server_and_back_whole(address: str, tmp_path: Path) -> None:
    with opened(str(tmp_path / "one.db")) as memory:
        scope = memory.scope(user="alice")
        scope.add_many([f"fact {n} with\0nul" for n in range(50)])
        gone = scope.add("gone")
        scope.delete(gone.id)
        scope.add("I live in Rome", triple=("user", "lives in", "Rome"))
        scope.add("I live in Lyon", triple=("user", "lives in", "Lyon"))
        scope.session("s").add_messages([{"role": "user", "content": "I adopted a cat called 元宝"}])
        scope.graph.add("Anna", "knows", "Ben", attributes={"since": 2020})
        was = [record.model_dump() for record in scope.list(where={"status": {"$exists": True}})]
        counts = memory.copy(address)
        assert counts["record"] >= len(was)
        assert counts["tombstone"] >= 1
        with pytest.raises(InvalidInput, match="already"):
            memory.copy(address)
    with opened(address) as memory:
        memory.copy(tmp_path / "two.db")
        memory.scope(user="alice").add("written after the copy")
        assert memory.check().ok
    with opened(str(tmp_path / "two.db")) as memory:
        scope = memory.scope(user="alice")
        assert [record.model_dump() for record in scope.list(where={"status": {"$exists": True}})] == was
        assert scope.search("Where do I live?", k=1)[0].record.text == "I live in Lyon"
        assert [str(each.relation) for each in scope.graph.neighbours("Anna")] == ["Anna knows Ben"]
        assert memory.check().ok


def test_b8_archives_beside_a_file_have_no_place_on_a_server_and_elsewhere_they_have(
    address: str, tmp_path: Path
) -> None:
    settings = {"archive": {"address": str(tmp_path / "cold")}}
    talk = [{"role": "user", "content": "I live in Lyon"}]
    with AgentMemory.open(tmp_path / "agent.db", embedder="hashing") as memory:
        scope = memory.scope(user="alice")
        scope.session("monday").add_messages(talk)
        scope.archive.session("monday")
        with pytest.raises(InvalidInput, match="archives lie in a folder beside"):
            memory.copy(address)
        scope.archive.restore("monday")
        assert memory.check().ok
    with AgentMemory.open(tmp_path / "agent.db", embedder="hashing", settings=settings) as memory:
        memory.scope(user="alice").archive.session("monday")
        memory.copy(address)
    with opened(address, settings=settings) as memory:
        assert memory.check().ok
        memory.scope(user="alice").archive.restore("monday")
        assert [each.text for each in memory.scope(user="alice").session("monday").messages()] == ["I live in Lyon"]


async def test_acopy_is_the_same(address: str) -> None:
    with AgentMemory.open(embedder="hashing") as memory:
        await memory.scope(user="alice").aadd("tea")
        await memory.acopy(address)
    with opened(address) as memory:
        assert told(memory) == ["tea"]
