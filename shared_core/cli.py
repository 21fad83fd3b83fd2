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
from shared_core.commands.database import Place, UsageFault
from shared_core.commands.terminal import readable
from shared_core.errors import TwinmemError

# UsageError, wherever this version of typer keeps it (up to 0.2x in click, later in its own copy).
_Misuse: type[Exception] = typer.BadParameter.__mro__[1]

_STOPPED = 130  # what typer, like a shell, gives for Ctrl-C


class Format(StrEnum):
    """The formats `import` reads; `auto` tells by the file's beginning."""

    AUTO = "auto"
    LOCOMO = "locomo"
    OPENAI = "openai"
    TWINMEM = "twinmem"
    CHATGPT = "chatgpt"
    LANGCHAIN = "langchain"
    LLAMAINDEX = "llamaindex"
    MEM0 = "mem0"
    LETTA = "letta"
    ZEP = "zep"
    LANGGRAPH = "langgraph"


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


def _place(value: str | Place) -> Place:
    return value if isinstance(value, Place) else Place(value)


Db = Annotated[
    Place,
    typer.Option(
        "--db",
        "-d",
        envvar="TWINMEM_DB",
        parser=_place,
        metavar="PATH",
        help="The database: a file, or postgresql://...",
    ),
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

Llm = Annotated[
    str | None,
    typer.Option("--llm", metavar="MODULE:NAME", help="Your callable from a prompt to text: answers are measured with "
                 "memory and without."),
]  # fmt: skip
Judge = Annotated[
    str | None,
    typer.Option("--judge", metavar="MODULE:NAME", help="Your callable from a prompt to text that judges answers; by "
                 "default they are compared word by word."),
]  # fmt: skip

_AGENT_DB = Place("agent.db")


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
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help="What 'twinmem export' wrote, or another system's export: JSON or JSONL."),
    ],
    db: Db = _AGENT_DB,
    format: Annotated[Format, typer.Option("--format", "-f", help="What the file is.")] = Format.AUTO,
    user: Annotated[
        str | None, typer.Option("--user", "-u", help="Whose memory, where the file does not say.", callback=_text)
    ] = None,
    agent: Agent = None,
    embedder: ChosenEmbedder = None,
    revive: Annotated[bool, typer.Option("--revive", help="Bring back what was deleted here.")] = False,
    as_json: Json = False,
) -> None:
    """Remember a file's conversations and memories; what is known already is not stored twice."""
    from shared_core.commands.importing import import_file

    chosen = None if format is Format.AUTO else format.value
    import_file(
        db, file, format=chosen, user=user, agent=agent, embedder=embedder, revive=revive, as_json=as_json
    )  # fmt: skip


@app.command()
def export(
    to: Annotated[Path, typer.Argument(metavar="TO", help="JSON lines; compressed if the name ends in .zst.")],
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    session: Session = None,
    vectors: Annotated[
        bool, typer.Option("--vectors/--no-vectors", help="With them an import need not embed again.")
    ] = True,
    audit: Annotated[bool, typer.Option("--audit", help="With the history of each record.")] = False,
    as_json: Json = False,
) -> None:
    """Write all that is kept of a user to a file, or a conversation with what matters beside it."""
    from shared_core.commands.moving import export as run

    run(db, to, user=user, agent=agent, session=session, vectors=vectors, audit=audit, as_json=as_json)


@app.command()
def archive(
    session: Annotated[
        str | None,
        typer.Argument(metavar="[SESSION]", help="The conversation to move away; none: list.", callback=_text),
    ] = None,
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    restore: Annotated[
        str | None, typer.Option("--restore", metavar="ID", help="Bring this archive or session back.", callback=_text)
    ] = None,
    delete: Annotated[
        str | None, typer.Option("--delete", metavar="ID", help="Erase this archive or session.", callback=_text)
    ] = None,
    as_json: Json = False,
) -> None:
    """Move a conversation to cold storage, bring it back, erase it; alone, list what lies there."""
    from shared_core.commands.moving import archive as run

    if sum(value is not None for value in (session, restore, delete)) > 1:
        raise UsageFault("a session to move away, --restore and --delete exclude each other; give one of them")
    run(db, session, user=user, agent=agent, restore=restore, delete=delete, as_json=as_json)


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
def consolidate(
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    fold: Annotated[bool, typer.Option("--fold", help="Sum up the many small memories on one subject, too.")] = False,
    as_json: Json = False,
) -> None:
    """Keep what mattered in conversations, and merge what says the same; stopped half way, it goes on where it was."""
    from shared_core.commands.tidying import consolidate as run

    run(db, user=user, agent=agent, fold=fold, as_json=as_json)


@app.command()
def cleanup(
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    go: Annotated[bool, typer.Option("--go", help="Do it; without this it only says what would go.")] = False,
    delete: Annotated[bool, typer.Option("--delete", help="Delete for good instead of moving to the archive.")] = False,
    threshold: Annotated[
        float | None, typer.Option("--threshold", min=0.0, max=1.0, help="Worth under which a memory goes; 0.2.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Say which memories have faded, are doubtful or have expired; pinned ones stay. With --go, let them go."""
    from shared_core.commands.tidying import cleanup as run

    run(db, user=user, agent=agent, go=go, delete=delete, threshold=threshold, as_json=as_json)


@app.command()
def redact(
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    go: Annotated[bool, typer.Option("--go", help="Rewrite them; without this it only says which they are.")] = False,
    vault: Annotated[
        bool, typer.Option("--vault", help="Put tokens in their place that a program can reveal.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Say which memories hold private data as it is, by kind. With --go, redact them and purge the file."""
    from shared_core.commands.redacting import redact as run

    run(db, user=user, agent=agent, go=go, vault=vault, as_json=as_json)


@app.command()
def backup(
    to: Annotated[Path, typer.Argument(metavar="TO", help="Where the copy goes.")],
    db: Db = _AGENT_DB,
    encrypt: Annotated[bool, typer.Option("--encrypt", help="Under the key in TWINMEM_NEW_KEY.")] = False,
    as_json: Json = False,
) -> None:
    """Copy the database as it is now, in use or not; the copy is checked before it gets its name."""
    from shared_core.commands.copies import backup as run

    run(db, to, encrypt=encrypt, as_json=as_json)


@app.command()
def restore(
    source: Annotated[Path, typer.Argument(metavar="BACKUP", help="What 'twinmem backup' wrote.")],
    db: Db = _AGENT_DB,
    force: Annotated[bool, typer.Option("--force", help="Replace a database that is there.")] = False,
    as_json: Json = False,
) -> None:
    """Put a backup in the place of the database, once it is found whole; nothing may have that open."""
    from shared_core.commands.copies import restore as run

    run(source, db, force=force, as_json=as_json)


@app.command()
def copy(
    to: Annotated[
        Place,
        typer.Argument(
            metavar="TO", parser=_place, help="An empty place: a new file, or postgresql://host/name?schema=..."
        ),
    ],
    db: Db = _AGENT_DB,
    encrypt: Annotated[bool, typer.Option("--encrypt", help="A file under the key in TWINMEM_NEW_KEY.")] = False,
    as_json: Json = False,
) -> None:
    """Copy a whole memory from a file to a server, or back; what arrived is compared with what was sent."""
    from shared_core.commands.copies import copy as run

    run(db, to, encrypt=encrypt, as_json=as_json)


@app.command()
def isolate(
    role: Annotated[str, typer.Argument(metavar="ROLE", help="A role of the server that may log in.", callback=_text)],
    db: Db = _AGENT_DB,
    as_json: Json = False,
) -> None:
    """Let a role of the PostgreSQL server use the memory and see one user's rows only (row-level security)."""
    from shared_core.commands.copies import isolate as run

    run(db, role, as_json=as_json)


@app.command()
def rekey(db: Db = _AGENT_DB, as_json: Json = False) -> None:
    """Encrypt the database under another key: the old one in TWINMEM_KEY, the new one in TWINMEM_NEW_KEY."""
    from shared_core.commands.copies import rekey as run

    run(db, as_json=as_json)


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
    llm: Llm = None,
    judge: Judge = None,
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
        llm=llm,
        judge=judge,
    )


@app.command()
def evaluate(
    file: Annotated[
        Path,
        typer.Argument(metavar="FILE", help='JSON lines like {"question": "...", "expected": ["an id, or a text"], '
                       '"answer": "..."}.'),
    ],
    db: Db = _AGENT_DB,
    user: User = None,
    agent: Agent = None,
    k: Annotated[int, typer.Option("--top", "-k", min=1, help="Recall at this place too, beside 1, 5 and 10.")] = 10,
    llm: Llm = None,
    judge: Judge = None,
    max_tokens: Annotated[int, typer.Option("--tokens", min=1, help="The budget of the context in a prompt.")] = 2000,
    days: Annotated[int, typer.Option("--days", min=1, help="Growth of so many days.")] = 30,
    embedder: ChosenEmbedder = None,
    as_json: Json = False,
) -> None:  # fmt: skip
    """Put your own questions to your own memory: hit rate, recall, answers, growth. Public sets: see bench."""
    from shared_core.commands.evaluating import evaluate as run

    run(
        db, file, user=user, agent=agent, k=k, max_tokens=max_tokens, days=days, llm=llm, judge=judge,
        embedder=None if embedder is None else embedder.value, as_json=as_json,
    )  # fmt: skip


@app.command()
def ui(
    file: Annotated[
        Place | None, typer.Argument(metavar="[FILE]", parser=_place, help="The database; by default what --db names.")
    ] = None,
    db: Db = _AGENT_DB,
    port: Annotated[int, typer.Option("--port", "-p", min=0, max=65_535, help="0 takes any that is free.")] = 0,
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open it in the browser.")] = True,
    embedder: ChosenEmbedder = None,
) -> None:  # fmt: skip
    """Show all that is kept on a page of this machine: search, edit, delete, the graph, what a question would get."""
    from shared_core.commands.page import ui as run

    run(file or db, port=port, browser=browser, embedder=None if embedder is None else embedder.value)


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
