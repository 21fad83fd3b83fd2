"""The command `twinmem`: how its verbs are called; the only module that imports typer.

The database is named in one way everywhere: `--db`, else the environment's TWINMEM_DB, else
`agent.db` in this folder. Why not as the first argument: whoever works with one memory, which is
nearly everyone, then types `twinmem search "where do I live?"`.

Every failure is one line on standard error. Exit codes: 0 done, 1 it failed, 2 called wrongly.
"""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup

from shared_core.commands import terminal
from shared_core.commands.database import UsageFault
from shared_core.commands.terminal import readable
from shared_core.errors import TwinmemError

# UsageError, wherever this version of typer keeps it (up to 0.2x in click, later in its own copy).
_Misuse: type[Exception] = typer.BadParameter.__mro__[1]

_STOPPED = 130  # what typer, like a shell, gives for Ctrl-C


class Format(StrEnum):
    """The formats `import` reads; `auto` tells by the file's first item."""

    AUTO = "auto"
    LOCOMO = "locomo"
    OPENAI = "openai"
    CHATGPT = "chatgpt"
    LANGCHAIN = "langchain"


class Embedder(StrEnum):
    """The embedders the command line can use."""

    DEFAULT = "default"
    E5 = "e5"
    HASHING = "hashing"


class Set(StrEnum):
    """The public sets `bench` reads; `auto` tells by the file's shape."""

    AUTO = "auto"
    LOCOMO = "locomo"
    MADIAL = "madial"
    REALTALK = "realtalk"
    MEMDAILY = "memdaily"
    LONGMEMEVAL = "longmemeval"


class Commands(TyperGroup):
    """The verbs, with every failure as one line and an exit code."""

    def main(self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any) -> NoReturn:  # type: ignore[override]
        """Run a command line and exit."""
        extra["standalone_mode"] = False
        with _failures(prog_name or "twinmem"):
            code = super().main(args, prog_name, **extra)
            sys.stdout.flush()
            if code == _STOPPED:
                raise KeyboardInterrupt
        sys.exit(code if isinstance(code, int) else 0)


@contextlib.contextmanager
def _failures(program: str) -> Iterator[None]:
    try:
        yield
    except _Misuse as error:
        context = getattr(error, "ctx", None)
        path = context.command_path if context is not None else program
        message = error.format_message()  # type: ignore[attr-defined]
        if "unexpected extra argument" in message:  # most likely the database, given as sqlite3 takes it
            message += "; a database is named with --db."
        terminal.fail(f"{path}: {message} See '{path} --help'.")
        sys.exit(2)
    except BrokenPipeError:
        # Whoever read our output (head, a pager) has seen enough. Python would complain once more at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except (TwinmemError, OSError) as error:
        terminal.fail(f"{program}: {error}")
        sys.exit(2 if isinstance(error, UsageFault) else 1)
    except (KeyboardInterrupt, typer.Abort):
        terminal.fail(f"{program}: stopped; what is done is kept, and the same command goes on from there")
        sys.exit(_STOPPED)


app = typer.Typer(
    name="twinmem",
    cls=Commands,
    help="One memory for AI agents, in one file. Every verb has a --help of its own.",
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _text(value: str | None) -> str | None:
    return None if value is None else readable(value)


Db = Annotated[
    Path,
    typer.Option("--db", "-d", envvar="TWINMEM_DB", help="The database file.", metavar="PATH"),
]
User = Annotated[
    str | None,
    typer.Option("--user", "-u", help="Whose memory; may be left out if there is only one user.", callback=_text),
]
Agent = Annotated[str | None, typer.Option("--agent", "-a", help="Which agent's memory of the user.", callback=_text)]
Session = Annotated[str | None, typer.Option("--session", "-s", help="Only this conversation.", callback=_text)]
Kinds = Annotated[
    list[str] | None,
    typer.Option("--kind", help="Only this kind: turn, fact, summary, event, rule, item. Repeatable."),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help='A filter as JSON, like \'{"role": "user"}\' or \'{"importance": {"$gte": 0.7}}\'.',
                 callback=_text),
]  # fmt: skip
Json = Annotated[bool, typer.Option("--json", help="JSON Lines for programs: one object a line, UTF-8.")]
ChosenEmbedder = Annotated[
    Embedder | None,
    typer.Option("--embedder", "-e", help="What gives texts their meaning; by default what the database has."),
]

_AGENT_DB = Path("agent.db")


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False,
) -> None:
    terminal.speak_utf8()
    if version:
        from importlib.metadata import version as installed

        terminal.say(f"twinmem {installed('twinmem')}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command("import")
def import_(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="A chat export: JSON or JSONL.")],
    db: Db = _AGENT_DB,
    format: Annotated[Format, typer.Option("--format", "-f", help="What the file is.")] = Format.AUTO,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose memory, where the file does not say.", callback=_text)
    ] = None,
    agent: Annotated[str, typer.Option("--agent", "-a", help="Which agent's memory.", callback=_text)] = "default",
    embedder: ChosenEmbedder = None,
    as_json: Json = False,
) -> None:
    """Remember the conversations of a file; what is known already is not stored twice."""
    from shared_core.commands.importing import import_file

    chosen = None if format is Format.AUTO else format.value
    import_file(db, file, format=chosen, user=user, agent=agent, embedder=embedder, as_json=as_json)


@app.command()
def search(
    query: Annotated[str, typer.Argument(metavar="QUERY", help="A question, or what to look for.", callback=_text)],
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    k: Annotated[int, typer.Option("--top", "-k", min=1, help="How many memories.")] = 5,
    session: Session = None,
    kind: Kinds = None,
    where: Where = None,
    min_score: Annotated[float, typer.Option("--min-score", min=0.0, max=1.0, help="Leave out weaker ones.")] = 0.0,
    embedder: ChosenEmbedder = None,
    as_json: Json = False,
) -> None:
    """Ask the memory: what fits best, its score, and why it came back."""
    from shared_core.commands.searching import search as run

    run(db, query, user=user, agent=agent, k=k, kinds=kind or (), where=where, session=session, min_score=min_score,
        embedder=embedder, as_json=as_json)  # fmt: skip


@app.command()
def show(
    id: Annotated[
        str | None, typer.Argument(metavar="[ID]", help="A record's id, as search prints it.", callback=_text)
    ] = None,
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    session: Session = None,
    kind: Kinds = None,
    where: Where = None,
    limit: Annotated[
        int | None, typer.Option("--limit", "-n", min=0, help="How many: the newest 20 records; 0 for all.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Show the newest records, one record with its history and sources, or a conversation."""
    from shared_core.commands.showing import show as run

    run(db, id, user=user, agent=agent, session=session, kinds=kind or (), where=where, limit=limit, as_json=as_json)


@app.command()
def users(db: Db = _AGENT_DB, as_json: Json = False) -> None:
    """List who is remembered."""
    from shared_core.commands.counting import users as run

    run(db, as_json=as_json)


@app.command()
def stats(db: Db = _AGENT_DB, user: User = None, agent: Agent = None, as_json: Json = False) -> None:
    """Count conversations, messages, long-term memories and tokens."""
    from shared_core.commands.counting import stats as run

    run(db, user=user, agent=agent, as_json=as_json)


@app.command()
def check(
    db: Db = _AGENT_DB,
    fix: Annotated[bool, typer.Option("--fix", help="Rebuild what can be rebuilt.")] = False,
    as_json: Json = False,
) -> None:
    """Compare rows, vectors and words; exit code 1 if something is wrong and not mended."""
    from shared_core.commands.upkeep import check as run

    if not run(db, fix=fix, as_json=as_json):
        raise typer.Exit(1)


@app.command()
def reembed(
    db: Db = _AGENT_DB,
    embedder: Annotated[Embedder, typer.Option("--embedder", "-e", help="The embedder to move to.")] = Embedder.DEFAULT,
    as_json: Json = False,
) -> None:
    """Move the database to another embedder; stopped half way, it goes on where it was."""
    from shared_core.commands.upkeep import reembed as run

    run(db, embedder=embedder.value, as_json=as_json)


@app.command()
def bench(
    paths: Annotated[
        list[Path], typer.Argument(metavar="PATH...", help="Files or folders of public sets, downloaded before.")
    ],
    set: Annotated[Set, typer.Option("--set", help="What the files are.")] = Set.AUTO,
    embedder: Annotated[
        Embedder, typer.Option("--embedder", "-e", help="What gives texts their meaning, for all systems alike.")
    ] = Embedder.DEFAULT,
    peers: Annotated[
        bool, typer.Option("--peers/--no-peers", help="Measure LangChain's and LlamaIndex's retrievers as well.")
    ] = True,
    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", min=1, help="Only so many conversations of each, spread evenly over the file."),
    ] = None,
    noise: Annotated[
        list[str] | None,
        typer.Option("--noise", help="MemDaily: how many times the messages, such as 10 20 100, which is the default; 1 "
                     "for none."),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--out", "-o", metavar="PATH", help="Where the page goes: PATH.md, and its plots into the folder "
                     "PATH. By default twinmem-bench."),
    ] = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Measure recall on LoCoMo, MADial-Bench, REALTALK, MemDaily and LongMemEval; writes tables and plots.

    The peers and the plots need the packages of the extra `bench`; what is missing is named, and left out.
    """
    from shared_core.commands.benching import bench as run

    run(
        paths,
        set=set.value,
        embedder=embedder.value,
        peers=peers,
        limit=limit,
        noise=noise or (),
        out=out,
        as_json=as_json,
    )


@app.command()
def demo(
    keep: Annotated[
        Path | None, typer.Option("--keep", metavar="PATH", help="Keep the database, to look at it afterwards.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Told through LangChain, recalled by LlamaIndex: two processes, one file, no model needed."""
    from shared_core.commands.demonstrating import demo as run

    if not run(keep, as_json=as_json):
        raise typer.Exit(1)


def main() -> None:
    """The entry point of the installed command."""
    terminal.speak_utf8()
    app(prog_name="twinmem")


if __name__ == "__main__":
    main()
