"""Make `data/schema_N.sqlite`, a small database as this version writes it: `python -m tests.store.frozen`.

Done once for each schema that is released, and never again: later versions have to open the file.
"""

from __future__ import annotations

from pathlib import Path

from shared_core import AgentMemory
from shared_core.store.migrating import migrations
from shared_core.testing import ManualClock

DATA = Path(__file__).parent / "data"


def make(path: Path) -> None:
    """Something of every kind, for two users."""
    with AgentMemory.open(path, embedder="hashing", clock=ManualClock()) as memory:
        alice = memory.scope(user="alice")
        alice.add("I live in Lyon", id="lyon", triple=("alice", "lives in", "Lyon"), metadata={"n": 1})
        alice.add("I live in Oslo now", id="oslo", triple=("alice", "lives in", "Oslo"))
        alice.add("我喜欢绿茶", id="tea", entities=["绿茶"])
        alice.delete(alice.add("forget this", id="gone").id)
        chat = alice.session("monday")
        chat.add_messages(
            [
                {"role": "user", "content": "I work at Orbit", "id": "1"},
                {"role": "assistant", "content": "Noted", "id": "2"},
            ]
        )
        chat.working.start("report", "write the report")
        alice.episodes.add("decided on Lyon", type="decision")
        alice.procedures.add("brewing tea", ["boil", "pour"], id="brew")
        alice.graph.add("Ann", "knows", "张伟")
        alice.graph.alias("张伟", "老板")
        memory.scope(user="bob", agent="other").add("Bob likes coffee", id="coffee")
        memory.purge()


if __name__ == "__main__":
    DATA.mkdir(exist_ok=True)
    target = DATA / f"schema_{migrations()[-1][0]}.sqlite"
    target.unlink(missing_ok=True)
    make(target)
    print(target, target.stat().st_size)
