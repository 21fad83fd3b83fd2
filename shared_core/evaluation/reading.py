"""Which public set a file or folder is, and its parts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from shared_core.errors import InvalidInput, NotFound
from shared_core.evaluation import locomo, longmemeval, madial, memdaily
from shared_core.evaluation.sets import SETS, Part

_MADIAL = "MADial-Bench-"


def read(
    paths: Sequence[str | Path], set: str = "auto", *, noise: Sequence[int] = memdaily.NOISE, limit: int | None = None
) -> list[Part]:
    """The parts of all files and folders; files of the same set make one part, as REALTALK's chats do.

    A folder stands for the JSON files in it. `limit` is the most conversations of a part, spread evenly over
    it (for MADial-Bench, dialogues a user). Raises `NotFound` for a path that isn't there, `InvalidInput` for
    what can't be read.
    """
    if set != "auto" and set not in SETS:
        raise InvalidInput(f"unknown set {set!r}; known: auto, {', '.join(SETS)}")
    if limit is not None and limit < 1:
        raise InvalidInput(f"limit is a whole number from 1, not {limit}")
    folders: dict[Path, list[str]] = {}
    documents: dict[str, list[tuple[str, Any]]] = {}
    for path in [inner for each in paths for inner in _files(Path(each))]:
        if path.is_dir() or path.name.startswith(_MADIAL):
            if set not in ("auto", "madial"):
                raise InvalidInput(f"{path} is MADial-Bench, not {set}")
            _add_madial(folders, path)
            continue
        document = _load(path)
        found = _detect(document, path) if set == "auto" else set
        documents.setdefault(found, []).append((path.stem, document))
    parts: list[Part] = []
    for name, of_set in documents.items():
        if name in ("locomo", "realtalk"):
            parts += locomo.read(of_set, name, limit)
        elif name == "memdaily":
            parts += memdaily.read(of_set, noise, limit)
        elif name == "longmemeval":
            parts += [part for stem, document in of_set for part in longmemeval.read(stem, document, limit)]
        else:
            raise InvalidInput(f"{of_set[0][0]}: MADial-Bench is read from its folder or files named {_MADIAL}*")
    parts += [part for folder, languages in folders.items() for part in madial.read(folder, languages, limit)]
    for part in parts:
        if not part.questions:
            raise InvalidInput(f"{part.name}: no question with evidence in what was given")
    return parts


def _files(path: Path) -> list[Path]:
    """What a path stands for: a file, a folder of MADial-Bench, or the JSON files of a folder."""
    if not path.exists():
        raise NotFound(f"no file or folder {path}")
    if not path.is_dir():
        return [path]
    if madial.languages(path):
        return [path]
    found = sorted(file for file in path.iterdir() if file.suffix in (".json", ".jsonl") and file.is_file())
    if not found:
        raise InvalidInput(f"{path} holds no JSON files")
    return found


def _add_madial(folders: dict[Path, list[str]], path: Path) -> None:
    if path.is_dir():
        folders[path] = madial.languages(path)
        if not folders[path]:
            raise InvalidInput(f"{path} holds no MADial-Bench files")
        return
    language = path.name.removeprefix(_MADIAL)[:2]
    wanted = folders.setdefault(path.parent, [])
    if language not in wanted:
        wanted.append(language)


def _load(path: Path) -> Any:
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInput(f"{path} is not UTF-8") from error
    try:
        return json.loads(text)
    except ValueError as error:
        lines = [line for line in text.splitlines() if line.strip()]
        try:
            return [json.loads(line) for line in lines]
        except ValueError:
            raise InvalidInput(f"{path}: broken JSON ({error})") from error
    except RecursionError as error:
        raise InvalidInput(f"{path}: nested too deeply") from error


def _detect(document: Any, path: Path) -> str:
    if longmemeval.matches(document):
        return "longmemeval"
    if memdaily.matches(document):
        return "memdaily"
    if found := locomo.matches(document):
        return found
    raise InvalidInput(f"{path} is none of the sets that are known ({', '.join(SETS)}); name one with --set")
