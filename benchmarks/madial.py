"""MADial-Bench, Chinese and English: which memory should an assistant recall at this point of a dialogue?

    python benchmarks/madial.py FOLDER [--language zh en] [--json OUT] [--no-peers] [--embedder e5]

FOLDER holds MADial-Bench-<language>-memory.json and -dialogue.json, one JSON object a line. The query is the
dialogue before its first `test-turn`. R@k is the share of `relevant-id` in the first k, once over the memories of
everybody and once over those of the dialogue's own user. twinmem gets the dialogue as messages; a peer takes one
string, so it is asked with the last message, the last two, and the whole dialogue, and its best view is shown.
"""

from __future__ import annotations

import argparse
import functools
import json
import random
import re
import statistics
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import embedders
import report
from peers import PEERS, Peer, quiet
from scoring import aggregate, figures, losses

KS = (1, 3, 5, 10)
DEPTH = max(KS)
SCORES = (*(f"R@{k}" for k in KS), "MRR")
SEED = 20240229
VIEWS = {"last message": 1, "last 2 messages": 2, "whole dialogue": None}
EVERYBODY = "all users"
OWN = "right user"

_SPEAKER = re.compile(r"\s*<(\w+)>\s*[:：]?")
_MARK = re.compile(r"\s*<(?:BOD|EOD)>\s*", re.IGNORECASE)
_EDGES = ' \t\r\n"“”<>'


@dataclass(frozen=True)
class Memory:
    """A memory, its owner's id and its day."""

    id: str
    user: str
    text: str
    at: datetime


@dataclass(frozen=True)
class Dialogue:
    """The dialogue up to the point where the assistant should recall, and what it should recall."""

    number: int
    user: str
    messages: tuple[dict[str, str], ...]
    relevant: tuple[str, ...]

    def text(self, last: int | None = None) -> str:
        """The last messages (all without a number) as one string, a line each."""
        return "\n".join(message["content"] for message in self.messages[-(last or len(self.messages)) :])


def messages(lines: Iterable[str]) -> list[dict[str, str]]:
    """The lines of a dialogue as messages: role `assistant` for <Assistant>, `user` for everybody else.

    Marks and quotes around a line are taken off. Some lines lack their speaker: they answer the line before.

    >>> messages(['<BOD>', '<Ann>: "Hi!"', '"Hello, Ann."', '<Ann>："你好"', '<Assistant>:"嗯'])[1:3]
    [{'role': 'assistant', 'content': 'Hello, Ann.'}, {'role': 'user', 'content': '你好'}]
    """
    out: list[dict[str, str]] = []
    for line in lines:
        if _MARK.fullmatch(line):
            continue
        speaker = _SPEAKER.match(line)
        if speaker is None:
            role = "assistant" if out and out[-1]["role"] == "user" else "user"
        else:
            role = "assistant" if speaker[1] == "Assistant" else "user"
        text = line[speaker.end() :] if speaker else line
        out.append({"role": role, "content": text.strip(_EDGES)})
    return out


def read(folder: str | Path, language: str) -> tuple[list[Memory], list[Dialogue]]:
    """Memories and dialogues of a language. A memory without `user-id` belongs to the speaker its text names."""
    lines = _lines(Path(folder) / f"MADial-Bench-{language}-dialogue.json")
    names = {
        match[1]: str(entry["user-id"])
        for entry in lines
        for line in entry["dialogue"]
        if (match := _SPEAKER.match(line)) and match[1] not in ("BOD", "EOD", "Assistant")
    }
    memories = []
    for entry in _lines(Path(folder) / f"MADial-Bench-{language}-memory.json"):
        for id, body in entry.items():
            owner = body.get("user-id") or next(user for name, user in names.items() if name in body["event"])
            at = datetime.strptime(body["time"], "%Y-%m-%d").replace(tzinfo=UTC)
            memories.append(Memory(str(id), str(owner), body["event"], at))
    dialogues = []
    for number, entry in enumerate(lines):
        before = messages(entry["dialogue"][: entry["test-turn"][0]])
        relevant = tuple(dict.fromkeys(str(id) for id in entry["relevant-id"]))
        dialogues.append(Dialogue(number, str(entry["user-id"]), tuple(before), relevant))
    return memories, dialogues


def _lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


Rank = Callable[[Dialogue], list[str]]
Rows = dict[str, dict[str, float]]


def measure(rank: Rank, dialogues: Sequence[Dialogue]) -> dict[str, float]:
    """The mean figures over the dialogues, and the mean time of a second pass."""
    rows = [figures(rank(dialogue), dialogue.relevant, KS) for dialogue in dialogues]
    milliseconds = []
    for dialogue in dialogues:
        started = time.perf_counter()
        rank(dialogue)
        milliseconds.append((time.perf_counter() - started) * 1000)
    return aggregate(rows) | {"ms/query": statistics.fmean(milliseconds)}


def pools(memories: Sequence[Memory], whose: str) -> dict[str, list[Memory]]:
    """The candidates of each user's dialogues, under the name of the scope that holds them."""
    users = sorted({memory.user for memory in memories})
    if whose == EVERYBODY:
        return {user: list(memories) for user in users}
    return {user: [memory for memory in memories if memory.user == user] for user in users}


class Twinmem:
    """twinmem as a user would run it: one scope a user (or one for everybody), memories as events."""

    def __init__(self, memory: Any, memories: Sequence[Memory], whose: str) -> None:
        self._scopes: dict[str, Any] = {}
        shared = None
        for user, pool in pools(memories, whose).items():
            if shared is None or whose == OWN:
                shared = memory.scope(user=f"{whose}: {user}")
                shared.add_many([{"id": m.id, "text": m.text, "kind": "event", "event_time": m.at} for m in pool])
            self._scopes[user] = shared

    def search(self, user: str, query: str | list[dict[str, str]]) -> list[str]:
        """The ids recalled for a query, among what the user's dialogues may draw on."""
        return [hit.record.id for hit in self._scopes[user].search(query, k=DEPTH, kinds=["event"])]

    def dialogue(self, dialogue: Dialogue) -> list[str]:
        """Asked with the dialogue as messages."""
        return self.search(dialogue.user, [dict(message) for message in dialogue.messages])

    def last_message(self, dialogue: Dialogue) -> list[str]:
        """Asked with the newest message alone, as a string."""
        return self.search(dialogue.user, dialogue.text(1))


def twinmem(embedder: Any, memories: Sequence[Memory], dialogues: Sequence[Dialogue], whose: str) -> Rows:
    """twinmem's rows: the dialogue as messages, its last message as a string, and a dialogue of somewhere else."""
    from shared_core import AgentMemory

    other = wrong(dialogues)
    with AgentMemory.open(embedder=embedder) as memory:
        system = Twinmem(memory, memories, whose)
        return {
            "twinmem": measure(system.dialogue, dialogues),
            "twinmem (last message as a string)": measure(system.last_message, dialogues),
            "control: a wrong query": measure(lambda dialogue: system.dialogue(other[dialogue.number]), dialogues),
        }


def wrong(dialogues: Sequence[Dialogue]) -> dict[int, Dialogue]:
    """For each dialogue another of the same user (so that the pool fits) that shares none of its memories."""
    out = {}
    for dialogue in dialogues:
        others = [d for d in dialogues if d.user == dialogue.user and not set(d.relevant) & set(dialogue.relevant)]
        if others:
            out[dialogue.number] = random.Random(f"{SEED} {dialogue.number}").choice(others)
    return out


def controls(memories: Sequence[Memory], dialogues: Sequence[Dialogue], whose: str) -> Rows:
    """Random order and newest first."""
    pool = pools(memories, whose)

    def shuffled(dialogue: Dialogue) -> list[str]:
        ids = [memory.id for memory in pool[dialogue.user]]
        random.Random(f"{SEED} {dialogue.number}").shuffle(ids)
        return ids[:DEPTH]

    newest = {
        user: [m.id for m in sorted(part, key=lambda m: (-m.at.timestamp(), int(m.id)))] for user, part in pool.items()
    }
    return {
        "control: random order": measure(shuffled, dialogues),
        "control: newest first": measure(lambda d: newest[d.user][:DEPTH], dialogues),
    }


class PeerSystem:
    """A peer, built on each user's candidates."""

    def __init__(self, make: type[Peer], embedder: embedders.Shared, by_user: Mapping[str, Sequence[Memory]]) -> None:
        self._built = {user: make(embedder) for user in by_user}
        for user, pool in by_user.items():
            self._built[user].build([memory.text for memory in pool], [memory.id for memory in pool])

    def rank(self, dialogue: Dialogue, last: int | None) -> list[str]:
        """Asked with the last messages as one string."""
        return self._built[dialogue.user].rank(dialogue.text(last), DEPTH)


def peers(
    embedder: Any, memories: Sequence[Memory], dialogues: Sequence[Dialogue], whose: str
) -> tuple[Rows, dict[str, str]]:
    """Each peer's figures in its best view (by the mean of R@k), and the peers that are not installed."""
    found: Rows = {}
    absent: dict[str, str] = {}
    for make in PEERS:
        best: tuple[float, str, dict[str, float]] | None = None
        try:
            with quiet():
                asked = PeerSystem(make, embedder, pools(memories, whose))
            for view, last in VIEWS.items():
                with quiet():
                    row = measure(functools.partial(asked.rank, last=last), dialogues)
                worth = statistics.fmean(row[f"R@{k}"] for k in KS)
                if best is None or worth > best[0]:
                    best = (worth, view, row)
        except ImportError as error:
            absent[make.name] = f"not installed: {error.name or error}"
        if best is not None:
            found[f"{make.name} ({best[1]})"] = best[2]
    return found, absent


def run(
    folder: str | Path,
    languages: Sequence[str] = ("zh", "en"),
    embedder_name: str = "default",
    with_peers: bool = True,
    ours: bool = True,
) -> dict[str, Any]:
    """Measure every language; prints the tables and returns what `--json` writes."""
    out = report.console()
    embedder = embedders.load(embedder_name)
    body: dict[str, Any] = {"benchmark": "madial", "embedder": embedder.name, "languages": {}}
    for language in languages:
        memories, dialogues = read(folder, language)
        queries = [dialogue.text(last) for dialogue in dialogues for last in VIEWS.values()]
        embedder.warm([memory.text for memory in memories], queries if with_peers else ())
        part: dict[str, Any] = {"memories": len(memories), "n": len(dialogues)}
        for whose in (EVERYBODY, OWN):
            rows = twinmem(embedder, memories, dialogues, whose) if ours else {}
            found, absent = peers(embedder, memories, dialogues, whose) if with_peers else ({}, {})
            rows |= found | controls(memories, dialogues, whose)
            rows = dict(sorted(rows.items(), key=lambda item: item[0].startswith("control")))
            title = f"MADial-Bench {language}, {whose}: {len(memories)} memories, {len(dialogues)} dialogues"
            out.print(report.table(title, (*SCORES, "ms/query"), rows.items(), best=True, notes=absent))
            lost = _lost(rows)
            if ours:
                out.print(report.losing(lost, rows.keys() - {"twinmem"}))
            names = ("figure", "to", "ours", "theirs")
            part[whose] = {
                "systems": rows,
                "absent": absent,
                "loses": [dict(zip(names, row, strict=True)) for row in lost],
            }
        body["languages"][language] = part
    return body


def _lost(rows: Mapping[str, Mapping[str, float]]) -> list[tuple[str, str, float, float]]:
    if "twinmem" not in rows:
        return []
    others = {name: dict(row) for name, row in rows.items() if name != "twinmem"}
    for name, row in others.items():
        if name.startswith(
            ("control", "twinmem")
        ):  # a control doesn't search; twinmem's own rows are no rivals in time
            del row["ms/query"]
    return losses(rows["twinmem"], others, (*SCORES, "ms/query"), ("ms/query",))


def main(arguments: Sequence[str] | None = None) -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path, help="the folder with MADial-Bench's files")
    parser.add_argument("--language", nargs="+", choices=("zh", "en"), default=["zh", "en"])
    parser.add_argument("--json", type=Path, metavar="OUT", help="write the figures to this file as well")
    parser.add_argument("--peers", action=argparse.BooleanOptionalAction, default=True, help="measure peers too")
    parser.add_argument("--ours", action=argparse.BooleanOptionalAction, default=True, help="measure twinmem")
    parser.add_argument("--embedder", choices=embedders.NAMES, default="default", help="for all systems alike")
    options = parser.parse_args(arguments)
    body = run(options.folder, options.language, options.embedder, options.peers, options.ours)
    report.write_json(options.json, body)


if __name__ == "__main__":
    main()
