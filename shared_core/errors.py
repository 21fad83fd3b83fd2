"""Every error the memory raises: one root, and a message that says what to do.

The classes also inherit the built-in exception a caller would expect (`ValueError`, `TypeError`,
`LookupError`, `ImportError`), so code that has never heard of twinmem still catches them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from shared_core.values import FailedWrite


class TwinmemError(Exception):
    """Something went wrong inside twinmem; the message says what and how to mend it."""

    def __init__(self, message: str | None = None) -> None:
        super().__init__(message or " ".join((type(self).__doc__ or "").split()))


class InvalidInput(TwinmemError, ValueError):
    """A value was refused before anything was written; give one of the allowed values."""


class InvalidType(TwinmemError, TypeError):
    """A value has a type that can't be stored; convert it to a JSON type first."""


class LimitExceeded(InvalidInput):
    """An input is larger than a limit of `Settings`; send less, or raise that limit."""


class InvalidVector(InvalidInput):
    """The embedder gave a vector with NaN, infinity or a wrong length; nothing was written."""


class NotFound(TwinmemError, LookupError):
    """No record with this id lives in this scope; `scope.list()` shows those that do."""


class EmbedderMismatch(InvalidInput):
    """The database holds vectors of another embedder; open it with that one, or call `reembed()`."""


class UnregisteredHandle(EmbedderMismatch, LookupError):
    """A restored handle needs its embedder; call `AgentMemory.register(address, factory)` first."""


class OptionConflict(InvalidInput):
    """This database is already open in this process with other options; close it, or use the same ones."""


class MemoryClosed(TwinmemError, ValueError):
    """This handle is closed; open the memory again with `AgentMemory.open(address)`."""


class StoreError(TwinmemError):
    """The database refused the operation; nothing of it was written. Run `twinmem check` on the file."""


class StoreBusy(StoreError):
    """Another process held the database for longer than `Settings.busy_timeout`; try again."""


class StoreUnavailable(StoreError):
    """The database server can't be reached; what was not acknowledged is not written. Try again."""


class StoreDamaged(StoreError):
    """The file is not a readable twinmem database; restore a backup, or give another path."""


class WrongKey(StoreError, ValueError):
    """The key does not open this database; give the one it was encrypted with."""


class ArchiveUnreachable(StoreError):
    """The place of the archive can't be reached; check `settings.archive.address`, and try again."""


class StoreTooNew(StoreError):
    """The file was written by a newer twinmem; upgrade this installation to read it."""


class QueuedWriteFailed(TwinmemError):
    """Writes that were queued in the background could not be made; they wait, and `flush()` tries again."""

    def __init__(self, failures: Sequence[FailedWrite] | str | None = None) -> None:
        self.failures: tuple[FailedWrite, ...] = () if failures is None or isinstance(failures, str) else (*failures,)
        message = failures if isinstance(failures, str) else None
        if self.failures:
            reasons = dict.fromkeys(each.error for each in self.failures if each.error)
            records = sum(len(each.texts) for each in self.failures)
            message = (
                f"{records} queued records are not written: {'; '.join(reasons)}. They wait: flush() tries again, "
                "drop_failed() gives up those that fail; `failures` of this error holds them"
            )
        super().__init__(message)


class LLMRequired(TwinmemError, ValueError):
    """This verb needs a language model; pass `llm=` to `AgentMemory.open`."""


class MissingExtra(TwinmemError, ImportError):
    """An optional package is missing; install the extra that the message names."""

    def __init__(self, package: str, extra: str = "") -> None:
        what = f"pip install 'twinmem[{extra}]'" if extra else f"pip install {package}"
        super().__init__(f"this needs the package {package!r}, which is not installed: {what}")
