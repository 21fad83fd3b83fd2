"""Templates into HTML; the only module that imports jinja2.

Everything is escaped by the engine, and what templates show of memories goes through `visible` first.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from shared_core.errors import MissingExtra
from shared_core.ui import showing
from shared_core.ui.words import translator

if TYPE_CHECKING:
    from jinja2 import Environment

TEMPLATES = Path(__file__).with_name("templates")


@cache
def _environment() -> Environment:
    try:
        from jinja2 import Environment, FileSystemLoader, StrictUndefined
    except ImportError as error:
        raise MissingExtra("jinja2", "ui") from error
    made = Environment(
        loader=FileSystemLoader(TEMPLATES), autoescape=True, undefined=StrictUndefined, trim_blocks=True,
        lstrip_blocks=True, auto_reload=False,
    )  # fmt: skip
    filters: dict[str, Any] = {
        "visible": showing.visible, "brief": showing.brief, "when": showing.when, "moment": showing.moment, "stamp": showing.stamp,
        "number": showing.number, "pretty": showing.as_json, "changes": showing.changed,
    }  # fmt: skip
    made.filters.update(filters)
    made.globals.update(long=showing.long)
    return made


def render(template: str, language: str, values: Mapping[str, Any]) -> str:
    """A template with its values, its words in English ("en") or Chinese ("zh")."""
    return _environment().get_template(template).render(**values, t=translator(language), language=language)
