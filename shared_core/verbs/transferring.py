"""The verbs of a scope that write it to a file and read files into it (E5)."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from shared_core.steps import Steps, both, threaded
from shared_core.verbs.handle import Handle

if TYPE_CHECKING:
    from shared_core.engine import Progress
    from shared_core.moving.exporting import Exported
    from shared_core.moving.importing import Imported
    from shared_core.scope import Scope

_Path = str | os.PathLike[str]


class Transferring(Handle):
    """What `Scope` does with files."""

    def export(
        self, path: _Path, *, vectors: bool = True, audit: bool = False, archived: bool = True,
        progress: Progress | None = None,
    ) -> Exported:  # fmt: skip
        """Write everything of this scope as JSON lines in UTF-8; compressed with zstd if the name ends in `.zst`.

        One moment of the memory: records with every field and time, versions, access counts, provenance,
        outcomes, sessions with summary, snapshot and state, and the graph. The file appears when it is
        whole. `vectors` saves the embedding when it is imported; without them it is a third of the size.
        `audit` adds the history of each record, `archived` what lies in the archive, which an import makes
        live. An encrypted memory is exported in the clear.

        Raises `InvalidInput` for a path that can't be written.

        >>> import tempfile
        >>> from shared_core import AgentMemory
        >>> alice = AgentMemory.open(embedder="hashing").scope(user="alice")
        >>> _ = alice.add("I live in Lyon")
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     written = alice.export(folder + "/alice.jsonl.zst")
        ...     back = AgentMemory.open(embedder="hashing").scope(user="alice").import_(folder + "/alice.jsonl.zst")
        >>> written.records, back.new
        (1, 1)
        """
        from shared_core.moving import exporting

        return exporting.scope(self._whole, path, vectors=vectors, audit=audit, archived=archived, progress=progress)

    def _import_(
        self, path: _Path, format: str = "twinmem", revive: bool = False, *, progress: Progress | None = None
    ) -> Steps[Imported]:
        """Read an export into this scope: one of `export`, or of another system.

        `format`: "twinmem"; "openai", "langchain", "chatgpt", "locomo" or "llamaindex" (conversations, from
        which facts are read as from any other); "mem0", "letta", "zep" or "langgraph" (memories); "auto"
        tells by the file's beginning. What is known already stays as it is, so that importing twice adds
        nothing; what was erased here stays out, unless `revive`. Records are embedded anew if the file's
        vectors are of another embedder. Batches of `settings.transfer.batch` records are written in one
        transaction each: started again after a crash it goes on. `progress(done, total)` is told of each.

        Raises `InvalidInput`, naming the line, for a file that is damaged anywhere; nothing is stored then.
        """
        from shared_core.moving import importing

        file, name = importing.checked_format(path, format)
        if name == importing.OURS:
            return (yield from importing.ours(self._whole, file, revive=revive, progress=progress))
        scope = self._whole

        def target(user: str | None, session: str | None) -> tuple[Scope, str | None]:
            return scope, importing.apart(user, session, scope.user)

        return (yield from importing.others(target, file, name, revive=revive, progress=progress))

    import_, aimport_ = both(_import_)

    aexport = threaded(export)
