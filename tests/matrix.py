"""Each adapter against the oldest and newest releases it promises to work with, the other framework absent.

`python tests/matrix.py` runs every cell, `--short` the oldest and the newest of each framework (what CI runs),
`--list` names them, and names given as arguments choose. A cell is a fresh environment with the built wheel, one
framework and the tests' own tools. The oldest releases are the lower bounds of `pyproject.toml`; pip holds the
wheel's bounds against what a cell asks for, so a bound that is raised there and not here fails here.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[1]
TOOLS = ("pytest>=8.4", "pytest-asyncio>=1.2", "pytest-rerunfailures>=16", "hypothesis>=6.120")

# What llama-index-core before 0.14.25 itself warns of, with the pydantic and workflows that pip finds for it.
OLDER_LLAMA = (
    "ignore:The 'validate_default' attribute",
    "ignore:ServiceManager is deprecated:DeprecationWarning",
    "ignore:Call to deprecated method get_doc_id:DeprecationWarning",
)


@dataclass(frozen=True)
class Cell:
    """One environment: what is installed, which tests run in it, whose framework must not be there."""

    name: str
    extra: str
    tests: str
    absent: str
    wanted: tuple[str, ...]
    short: bool = False
    tools: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()


def bound(extra: str, package: str) -> str:
    """The lower bound of a package in an extra of `pyproject.toml`."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    [line] = [each for each in project["optional-dependencies"][extra] if each.startswith(f"{package}>=")]
    return line.split(">=")[1].split(",")[0]


def cells() -> list[Cell]:
    """All cells, the quickest to fail first."""
    core, checkpoint, langchain = (
        bound("langchain", "langchain-core"), bound("langchain", "langgraph-checkpoint"), bound("agents", "langchain"),
    )  # fmt: skip
    llama = bound("llamaindex", "llama-index-core")
    chain = {"tests": "langchain_mem", "absent": "llama_index", "tools": ("langchain-tests",)}
    index = {"extra": "llamaindex", "tests": "llamaindex_mem", "absent": "langchain_core"}
    found = [
        Cell("langchain-core-oldest", "langchain",
             wanted=(f"langchain-core=={core}", f"langgraph-checkpoint=={checkpoint}"), short=True, **chain),
        Cell("langchain-oldest", "agents",
             wanted=(f"langchain=={langchain}", f"langgraph-checkpoint=={checkpoint}"), short=True, **chain),
        Cell("langchain-newest", "agents",
             wanted=("langchain", "langchain-core", "langgraph-checkpoint"), short=True, **chain),
    ]  # fmt: skip
    for release in (llama, "0.14.0", ""):
        for pydantic in ("2.13", "2.14"):
            found.append(
                Cell(
                    f"llama-index-{release or 'newest'}-pydantic-{pydantic}",
                    wanted=(
                        f"llama-index-core=={release}" if release else "llama-index-core",
                        f"pydantic=={pydantic}.*",
                    ),
                    short=(release, pydantic) in ((llama, "2.13"), ("", "2.14")),
                    warnings=OLDER_LLAMA if release else (),
                    **index,
                )
            )
    return found


class Failed(Exception):
    """A step of a cell ended with an error; its output."""


def run(*command: str | Path, **keywords: object) -> str:
    done = subprocess.run([str(part) for part in command], text=True, capture_output=True, **keywords)  # type: ignore[call-overload]
    if done.returncode:
        raise Failed("\n".join((done.stdout + done.stderr).strip().splitlines()[-60:]))
    return str(done.stdout)


def build(folder: Path) -> Path:
    """The wheel of this checkout."""
    run(sys.executable, "-m", "build", "--wheel", "--outdir", folder, ROOT)
    [wheel] = folder.glob("*.whl")
    return wheel


def check(cell: Cell, wheel: Path, folder: Path) -> str:
    """Make the environment of a cell and run its tests; pytest's last line. Raises `Failed`."""
    run(sys.executable, "-m", "venv", "--without-pip", folder)
    python = folder / "bin" / "python"
    install = [sys.executable, "-m", "pip", "--python", str(python), "install", "--quiet", "--no-compile"]
    run(
        *install,
        "--disable-pip-version-check",
        f"twinmem[{cell.extra}] @ {wheel.as_uri()}",
        *cell.wanted,
        *TOOLS,
        *cell.tools,
    )
    run(python, "-c", f"import importlib.util as u; assert u.find_spec({cell.absent!r}) is None")
    environment = {
        **{name: value for name, value in os.environ.items() if name != "PYTHONPATH"},
        "LANGGRAPH_STRICT_MSGPACK": "true",
        "PYTHONASYNCIODEBUG": "1",
    }
    warnings = [part for each in cell.warnings for part in ("-W", each)]
    # What tests share is found beside them, without the checkout's packages, which lie in the same folder.
    beside = folder / "beside"
    beside.mkdir()
    (beside / "tests").symlink_to(ROOT / "tests")
    # Not from the checkout's own folder: there Python would import it instead of what was installed.
    command = [python, "-P", "-m", "pytest", "-q", "--tb=short", "-c", ROOT / "pyproject.toml", "--rootdir", ROOT,
               "-o", f"pythonpath={beside}"]  # fmt: skip
    return run(*command, *warnings, ROOT / "tests" / cell.tests, cwd=folder, env=environment).strip().splitlines()[-1]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", help="cells to run; all without it")
    parser.add_argument("--short", action="store_true", help="the oldest and the newest of each framework")
    parser.add_argument("--list", action="store_true", help="name the cells and what they install")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="cells at a time")
    given = parser.parse_args()
    chosen = [c for c in cells() if (c.name in given.names if given.names else c.short or not given.short)]
    if given.list:
        for cell in chosen:
            print(f"{cell.name}: {', '.join(cell.wanted)}")
        return 0
    begin = time.monotonic()
    failed = []
    with tempfile.TemporaryDirectory(prefix="twinmem-matrix-") as name:
        wheel = build(Path(name))

        def one(cell: Cell) -> tuple[Cell, bool, str, float]:
            start, folder = time.monotonic(), Path(name) / cell.name
            try:
                passed, said = True, check(cell, wheel, folder)
            except Failed as error:
                passed, said = False, str(error)
            shutil.rmtree(folder, ignore_errors=True)
            return cell, passed, said, time.monotonic() - start

        with ThreadPoolExecutor(given.jobs) as pool:
            for cell, passed, said, seconds in pool.map(one, chosen):
                print(f"{'pass' if passed else 'FAIL'}  {cell.name}  {said}  ({seconds:.0f} s)", flush=True)
                failed += [] if passed else [cell.name]
    whole = time.monotonic() - begin
    print(f"matrix: {len(chosen) - len(failed)} of {len(chosen)} cells pass in {whole:.0f} s", *failed)
    return 1 if failed or not chosen else 0


if __name__ == "__main__":
    sys.exit(main())
