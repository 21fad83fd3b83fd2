"""`python -m examples.learning_assistant`: serve the learning assistant on this machine."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated

import typer
import uvicorn

from examples.learning_assistant.api import LOCAL, create_app
from examples.learning_assistant.assistant import Assistant
from examples.learning_assistant.demo import STUDENTS, Walking, seed
from examples.learning_assistant.errors import NotConfigured
from examples.learning_assistant.tutor import model_of

app = typer.Typer(add_completion=False)


@app.command()
def serve(
    file: Annotated[
        str, typer.Option(help="the twinmem file (or postgresql:// address) with the students")
    ] = "learning.db",
    demo: Annotated[
        bool, typer.Option("--demo", help="add the demo students mia and xiaoyu, if they are not there")
    ] = False,
    host: Annotated[
        str, typer.Option(help="address to listen on; it has no login, so keep it on loopback")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65_535)] = 8_000,
) -> None:
    """Serve the learning assistant: the page at /, the API under /api, its description at /docs."""
    clock = Walking(lambda: datetime.now(UTC))
    try:
        model = model_of()
    except NotConfigured as error:
        raise typer.BadParameter(str(error), param_hint="environment") from error

    def make() -> Assistant:
        assistant = Assistant(file, model=model, clock=clock)
        if demo:
            for student in STUDENTS.values():
                seed(assistant, clock, student)
        return assistant

    shown = f"http://{host}:{port}/" + ("?user=mia" if demo else "")
    typer.echo(f"{shown}  (students in {file})")
    uvicorn.run(create_app(make, hosts=sorted({*LOCAL, host})), host=host, port=port, log_level="warning")


if __name__ == "__main__":
    app()
