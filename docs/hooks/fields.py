"""Tables of fields, out of the code; and links that lead out of the site become plain text."""

from __future__ import annotations

import os
import re
from importlib import import_module
from typing import Any

_FIELDS = re.compile(r"^<!-- fields: (\w+(?:\.\w+)*) -->$", re.MULTILINE)
_SECTIONS = re.compile(r"^<!-- sections: (\w+(?:\.\w+)*) -->$", re.MULTILINE)
_LINK = re.compile(r"\[([^\]]+)\]\((\.\./[^)#\s]+)[^)]*\)")


def on_page_markdown(markdown: str, *, page: Any, **kwargs: Any) -> str:
    """Called by MkDocs with each page."""
    markdown = _SECTIONS.sub(lambda found: _sections(_model(found[1])), markdown)
    markdown = _FIELDS.sub(lambda found: _table(_model(found[1])), markdown)
    folder = os.path.dirname(page.file.src_uri)
    return _LINK.sub(lambda link: link[1] if _outside(folder, link[2]) else link[0], markdown)


def _outside(folder: str, link: str) -> bool:
    return os.path.normpath(os.path.join(folder, link)).startswith("..")


def _model(path: str) -> Any:
    module, name = path.rsplit(".", 1)
    return getattr(import_module(module), name)


def _sections(settings: Any) -> str:
    """Each section of the settings with its fields, then the settings that stand alone."""
    parts, alone = [], {}
    for name, field in settings.model_fields.items():
        if hasattr(field.annotation, "model_fields"):
            parts.append(f"## {name}\n\n{field.annotation.__doc__}\n\n{_table(field.annotation)}")
        else:
            alone[name] = field
    return "\n\n".join([*parts, "## Alone", _rows(alone)])


def _table(model: Any) -> str:
    return _rows(model.model_fields)


def _rows(fields: Any) -> str:
    described = any(field.description for field in fields.values())
    lines = [
        "| field | type | default |" + (" |" if described else ""),
        "| --- | --- | --- |" + (" --- |" if described else ""),
    ]
    for name, field in fields.items():
        kind = getattr(field.annotation, "__name__", None) if isinstance(field.annotation, type) else None
        if kind is None or "[" in str(field.annotation):
            kind = re.sub(r"\b(?:\w+\.)+(?=\w)", "", str(field.annotation))
        default = "" if field.is_required() else _shown(field)
        cells = [f"`{name}`", f"`{kind}`".replace("|", "\\|"), default]
        lines.append("| " + " | ".join(cells + ([field.description or ""] if described else [])) + " |")
    return "\n".join(lines)


def _shown(field: Any) -> str:
    value = field.get_default(call_default_factory=True, validated_data={})
    text = repr(value)
    return (
        f"`{text}`".replace("|", "\\|")
        if len(text) <= 40
        else f"{len(value)} entries"
        if hasattr(value, "__len__")
        else "see above"
    )
