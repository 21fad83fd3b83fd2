"""Private data of a scope: how its texts and questions are redacted, and what its tokens stand for (E1)."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from shared_core.errors import InvalidInput, InvalidType
from shared_core.steps import Steps, both, threaded
from shared_core.store import ledger, tombstones, vault
from shared_core.values import Kind, PrivateData
from shared_core.verbs.handle import Handle

if TYPE_CHECKING:
    from shared_core.session import Session
    from shared_core.values import Record

Found = list[PrivateData]
Names = list[str]


class Redacting(Handle):
    """What `Scope` does about private data."""

    if TYPE_CHECKING:
        _update: Callable[..., Steps[Record]]

        def list(self, *, where: Any = None) -> list[Record]: ...
        def get(self, id: str) -> Record | None: ...
        def sessions(self) -> Names: ...
        def session(self, id: str) -> Session: ...

    def reveal(self, text: str) -> str:
        """A text with what stands behind its tokens (`settings.redaction.mode="vault"`), for whoever may see it.

        Only tokens of this scope; any other, and plain labels, stay as they are. Nothing else of the
        memory ever does this: searches and contexts give the tokens.

        Raises `InvalidType` for what is no text, `StoreDamaged` if the vault was tampered with.

        >>> from shared_core import AgentMemory
        >>> memory = AgentMemory.open(embedder="hashing", settings={"redaction": {"mode": "vault"}})
        >>> scope = memory.scope(user="alice")
        >>> kept = scope.add("Write to bob@example.com").text
        >>> "bob@example.com" in kept, scope.reveal(kept)
        (False, 'Write to bob@example.com')
        """
        if not isinstance(text, str):
            raise InvalidType(f"reveal takes a text, not {type(text).__name__}; for a record give its text")
        engine = self._live()
        with engine.store.look() as tx:
            scope = self._find(tx)
            return text if scope is None else vault.revealed(tx, scope, lambda: tombstones.secret(tx), text)

    def private(self) -> Found:
        """The records that hold private data as it is, by the kinds of `settings.redaction`, whatever its mode.

        For a memory that was filled before redaction was on; `redact` rewrites them. Says which and of
        what kind, and nothing of the data itself. Looked through are texts, metadata, triples and entities,
        and the content and tool calls of messages; not what the graph, a task or an archive holds besides.

        >>> from shared_core import AgentMemory
        >>> scope = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = scope.add_many(["Call 13800138000", "I like tea"])
        >>> [found.kinds for found in scope.private()]
        [{'phone': 1}]
        """
        from shared_core.writing.redaction.policy import counted

        chosen = self._live().settings.redaction
        found = []
        for record in self.list(where={"status": {"$exists": True}}):
            kinds = counted([record.text, record.metadata, record.entities, list(record.triple or ())], chosen)
            if kinds and record.kind is not Kind.TURN:
                found.append(PrivateData(id=record.id, kind=record.kind, kinds=kinds))
        for name in self.sessions():
            for message in self.session(name).messages():
                kinds = counted([message.content, list(message.tool_calls)], chosen)
                if kinds:
                    id = ledger.turn_id(name, str(message.id))
                    found.append(PrivateData(id=id, kind=Kind.TURN, kinds=kinds, session=name, message_id=message.id))
        return found

    def _redact(self) -> Steps[Found]:
        """Rewrite what `private` finds, as `settings.redaction` says now; what was rewritten.

        Messages are sent again under their ids, so what was read from them is read anew; records are
        updated, and their history forgets what they said. `AgentMemory.purge` then takes the old bytes
        out of the file.

        Raises `InvalidInput` unless the mode is "mask" or "vault".
        """
        engine = self._live()
        if engine.settings.redaction.mode not in ("mask", "vault"):
            raise InvalidInput("open the memory with settings.redaction.mode 'mask' or 'vault' to have it redacted")
        found = self.private()
        for name in dict.fromkeys(each.session for each in found if each.session is not None):
            chat, ids = self.session(name), {each.message_id for each in found if each.session == name}
            yield from chat._stored([message for message in chat.messages() if message.id in ids])
        left = [each for each in self.private() if each.session is None]
        for each in left:
            record = self.get(each.id)
            if record is not None:
                yield from self._update(
                    each.id, text=record.text, metadata=record.metadata, triple=record.triple, entities=record.entities
                )
        with engine.store.write() as tx:
            scope = self._find(tx)
            for each in {one.id: one for one in (*found, *left)}.values():
                tx.run("forget_details", {"scope": scope, "id": each.id})
        engine.model.forget()
        return [*(each for each in found if each.session is not None), *left]

    redact, aredact = both(_redact)
    areveal = threaded(reveal)
    aprivate = threaded(private)
