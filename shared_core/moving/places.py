"""Where archive files lie: a local folder or any fsspec address; the only module that imports fsspec.

A file is written under another name, read back, compared, and renamed; a local one is flushed to
the disk before that. So a name that is there stands for a whole file, also after a crash.
"""

from __future__ import annotations

import hashlib
import os
from contextlib import suppress
from pathlib import Path
from typing import Any

from shared_core.errors import ArchiveUnreachable, InvalidInput, StoreDamaged

_REMOTE = "://"
_TRIES = 20  # to write into a folder that others delete as soon as it is empty


def digest(data: bytes) -> str:
    """The checksum files are compared by.

    >>> digest(b"")[:8]
    'e3b0c442'
    """
    return hashlib.sha256(data).hexdigest()


def join(root: str, *names: str) -> str:
    """An address below another.

    >>> join("memory://cold", "a", "b.zst")
    'memory://cold/a/b.zst'
    """
    return "/".join([root.rstrip("/"), *names]) if _REMOTE in root else os.path.join(root, *names)


def write(address: str, data: bytes) -> None:
    """Put a file there: verified, then renamed.

    Raises `ArchiveUnreachable` where it can't be written, `StoreDamaged` if it reads back as something else.
    """
    waiting = address + ".tmp"
    try:
        if _REMOTE in address:
            _write_remote(waiting, address, data)
        else:
            _write_local(waiting, address, data)
    except StoreDamaged:
        with suppress(ArchiveUnreachable):
            delete(waiting)
        raise
    except Exception as error:
        with suppress(ArchiveUnreachable):
            delete(waiting)
        raise _unreachable(address, error) from error


def _write_local(waiting: str, address: str, data: bytes) -> None:
    for left in reversed(range(_TRIES)):
        try:
            _write_once(waiting, address, data)
            return
        except (FileNotFoundError, FileExistsError):  # others deleted the last file of the folder, and it
            if not left:
                raise


def _write_once(waiting: str, address: str, data: bytes) -> None:
    folder = os.path.dirname(address)
    os.makedirs(folder, exist_ok=True)
    with open(waiting, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    _verified(Path(waiting).read_bytes(), data, address)
    os.replace(waiting, address)
    if hasattr(os, "O_DIRECTORY"):
        handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


def _write_remote(waiting: str, address: str, data: bytes) -> None:
    fs, path = _place(waiting)
    final = _place(address)[1]
    fs.makedirs(path.rpartition("/")[0], exist_ok=True)
    fs.pipe_file(path, data)
    _verified(fs.cat_file(path), data, address)
    fs.mv(path, final)


def _verified(found: bytes, data: bytes, address: str) -> None:
    if digest(found) != digest(data):
        raise StoreDamaged(f"{address} reads back as something else than was written; nothing was moved there")


def read(address: str, checksum: str) -> bytes:
    """The bytes of a file.

    Raises `ArchiveUnreachable` where it can't be read, `StoreDamaged` if its checksum is another.
    """
    try:
        if _REMOTE in address:
            fs, path = _place(address)
            data: bytes = fs.cat_file(path)
        else:
            data = Path(address).read_bytes()
    except Exception as error:
        raise _unreachable(address, error) from error
    if digest(data) != checksum:
        raise StoreDamaged(f"{address} is damaged: its checksum is not what it was; restore the file from a backup")
    return data


def verify(address: str, checksum: str, size: int) -> None:
    """Raise what `read` raises for a file that is not what was written; elsewhere only its size is asked for."""
    if _REMOTE not in address:
        read(address, checksum)
        return
    try:
        fs, path = _place(address)
        found = fs.info(path)["size"]
    except Exception as error:
        raise _unreachable(address, error) from error
    if found != size:
        raise StoreDamaged(f"{address} is damaged: it has {found} bytes and not {size}")


def delete(address: str) -> None:
    """Delete a file; one that is not there is deleted already. Raises `ArchiveUnreachable`."""
    try:
        if _REMOTE in address:
            fs, path = _place(address)
            with suppress(FileNotFoundError):
                fs.rm_file(path)
        else:
            Path(address).unlink(missing_ok=True)
            with suppress(OSError):  # the last one takes its folder along
                os.rmdir(os.path.dirname(address))
    except Exception as error:
        raise _unreachable(address, error) from error


def _place(address: str) -> tuple[Any, str]:
    from fsspec.core import url_to_fs

    try:
        fs, path = url_to_fs(address)
    except (ValueError, ImportError) as error:
        raise InvalidInput(f"the archive's address {address!r} can't be used: {error}") from error
    return fs, path


def _unreachable(address: str, error: Exception) -> Exception:
    if isinstance(error, InvalidInput | StoreDamaged):
        return error
    return ArchiveUnreachable(f"{address} can't be reached ({error!r}); it is tried again at the next upkeep")
