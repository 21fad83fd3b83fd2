"""What the reference needs besides the docstrings: no async twins, and examples as code."""

from __future__ import annotations

import re
from typing import Any

from griffe import Class, Extension, Object

_EXAMPLE = re.compile(r"^(>>> .*(?:\n.+)*)", re.MULTILINE)


class Twins(Extension):
    """Leaves out `aname` where a class has `name`, and fences doctests, which Markdown takes for quotes."""

    def on_class(self, *, cls: Class, **kwargs: Any) -> None:
        """Called with each class once its members are known."""
        for name in [name for name in cls.members if name[:1] == "a" and name[1:] in cls.members]:
            del cls.members[name]

    def on_object(self, *, obj: Object, **kwargs: Any) -> None:
        """Called with everything that may have a docstring."""
        if obj.docstring is not None and "```" not in obj.docstring.value:
            obj.docstring.value = _EXAMPLE.sub(r"```pycon\n\1\n```", obj.docstring.value)
