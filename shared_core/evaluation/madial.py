"""MADial-Bench: which memory should an assistant recall at this point of a dialogue? Chinese and English.

The query is the dialogue before its first `test-turn`. Each language gives two parts: over the memories
of everybody, and over those of the dialogue's own user.

He et al., "MADial-Bench: Towards Real-world Evaluation of Memory-Augmented Dialogue Generation" (2024).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from shared_core.errors import InvalidInput
from shared_core.evaluation.sets import Part, Question, Sample, part
from shared_core.evaluation.times import read_time
from shared_core.values import Message

KS = (1, 3, 5, 10)
EVERYBODY = "all users"
OWN = "right user"
LANGUAGES = ("zh", "en")

_SPEAKER = re.compile(r"\s*<(\w+)>\s*[:：]?")
_MARK = re.compile(r"\s*<(?:BOD|EOD)>\s*", re.IGNORECASE)
_EDGES = ' \t\r\n"“”<>'


@dataclass(frozen=True)
class Memory:
    """A memory, its owner's id and its day."""

    id: str
    user: str
    text: str
    at: datetime | None


@dataclass(frozen=True)
class Dialogue:
    """The dialogue up to the point where the assistant should recall, and what it should recall."""

    user: str
    messages: tuple[Message, ...]
    relevant: tuple[str, ...]


def messages(lines: Iterable[str]) -> list[Message]:
    """The lines of a dialogue as messages: role `assistant` for <Assistant>, `user` for everybody else.

    Marks and quotes around a line are taken off. Some lines lack their speaker: they answer the line before.

    >>> [(m.role, m.text) for m in messages(['<BOD>', '<Ann>: "Hi!"', '"Hello, Ann."', '<Assistant>:"嗯'])]
    [('user', 'Hi!'), ('assistant', 'Hello, Ann.'), ('assistant', '嗯')]
    """
    out: list[Message] = []
    for line in lines:
        if _MARK.fullmatch(line):
            continue
        speaker = _SPEAKER.match(line)
        if speaker is None:
            role = "assistant" if out and out[-1].role == "user" else "user"
        else:
            role = "assistant" if speaker[1] == "Assistant" else "user"
        text = line[speaker.end() :] if speaker else line
        name = speaker[1] if speaker is not None and role == "user" else None
        out.append(Message(role=role, name=name, content=text.strip(_EDGES)))
    return out


def languages(folder: Path) -> list[str]:
    """The languages whose two files a folder holds."""
    return [language for language in LANGUAGES if all(path.exists() for path in _paths(folder, language))]


def _paths(folder: Path, language: str) -> tuple[Path, Path]:
    stem = f"MADial-Bench-{language}"
    return folder / f"{stem}-memory.json", folder / f"{stem}-dialogue.json"


def read_files(folder: str | Path, language: str) -> tuple[list[Memory], list[Dialogue]]:
    """Memories and dialogues of a language. A memory without `user-id` belongs to the speaker its text names."""
    memory_path, dialogue_path = _paths(Path(folder), language)
    lines = _lines(dialogue_path)
    names = {
        match[1]: str(entry["user-id"])
        for entry in lines
        for line in entry["dialogue"]
        if (match := _SPEAKER.match(line)) and match[1] not in ("BOD", "EOD", "Assistant")
    }
    memories = []
    for entry in _lines(memory_path):
        for id, body in entry.items():
            owner = body.get("user-id") or next((user for name, user in names.items() if name in body["event"]), "")
            memories.append(Memory(str(id), str(owner), body["event"], read_time(body.get("time"))))
    dialogues = []
    for entry in lines:
        before = messages(entry["dialogue"][: entry["test-turn"][0]])
        relevant = tuple(dict.fromkeys(str(id) for id in entry["relevant-id"]))
        dialogues.append(Dialogue(str(entry["user-id"]), tuple(before), relevant))
    return memories, dialogues


def _lines(path: Path) -> list[dict[str, Any]]:
    try:
        return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
    except ValueError as error:
        raise InvalidInput(f"{path}: one JSON object a line is expected ({error})") from error


def read(folder: Path, wanted: Sequence[str] | None = None, limit: int | None = None) -> list[Part]:
    """Two parts a language: over all memories, and over those of the right user. `limit` is dialogues a user."""
    parts = []
    for language in wanted or languages(folder):
        try:
            memories, dialogues = read_files(folder, language)
        except FileNotFoundError as error:
            raise InvalidInput(f"{error.filename} is missing; MADial-Bench has two files a language") from error
        except (KeyError, TypeError, IndexError) as error:
            raise InvalidInput(f"{folder}: not MADial-Bench {language} ({type(error).__name__}: {error})") from error
        for whose in (EVERYBODY, OWN):
            samples = [
                sample
                for user in sorted({dialogue.user for dialogue in dialogues})
                if (sample := _sample(user, memories, dialogues, whose, limit)).questions
            ]
            how = f"{len(memories)} memories; the dialogue so far as query; share of the relevant ones"
            name = f"MADial-Bench {language}, {whose}"
            parts.append(part("madial", name, samples, how, spread_over="user", ks=KS, wrong_within=True))
    return parts


def _sample(
    user: str, memories: Sequence[Memory], dialogues: Sequence[Dialogue], whose: str, limit: int | None
) -> Sample:
    pool = [memory for memory in memories if whose == EVERYBODY or memory.user == user]
    told = tuple(Message(role="user", content=m.text, id=m.id, created_at=m.at) for m in pool)
    asked = [dialogue for dialogue in dialogues if dialogue.user == user]
    questions = tuple(
        Question(dialogue.messages[-1].text, dialogue.relevant, talk=dialogue.messages)
        for dialogue in asked[:limit]
        if dialogue.messages and dialogue.relevant
    )
    skipped = len(asked[:limit]) - len(questions)
    return Sample(f"user {user}", {"memories": told}, questions, skipped, kind="event")
