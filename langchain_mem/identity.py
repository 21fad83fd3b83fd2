"""Whose memory it is: the user of a run, found where LangChain applications put it, never assumed."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from langchain_core.runnables import RunnableConfig

from shared_core.errors import InvalidInput

RESERVED = "twinmem:store"
"""The user whose scope holds what of a store belongs to no user; nobody can be called so."""

User = str | int | Callable[[Any], str | int] | None
"""A user id, a callable that gives it for a runtime, or None: the runtime's context or the config has it."""


def user_of(user: User, *, runtime: Any = None, config: Mapping[str, Any] | None = None) -> str:
    """The user: as given, or `runtime.context.user_id`, or `config["configurable"]["user_id"]`.

    Raises `InvalidInput` where none of them names one: a memory is never shared by accident.

    >>> user_of(None, config={"configurable": {"user_id": 7}})
    '7'
    """
    found: Any = user(runtime) if callable(user) else user
    if found is None:
        found = _field(getattr(runtime, "context", None), "user_id")
    if found is None:
        found = ((config or {}).get("configurable") or {}).get("user_id")
    if isinstance(found, int) and not isinstance(found, bool):
        found = str(found)
    if not isinstance(found, str) or not found.strip():
        raise InvalidInput(
            "whose memory? give user=..., pass context with a user_id (create_agent(context_schema=...)), "
            'or config={"configurable": {"user_id": ...}}'
        )
    if found == RESERVED:
        raise InvalidInput(f"{RESERVED!r} is no user; its scope holds what of a store belongs to no user")
    return found


def running() -> tuple[Any, RunnableConfig]:
    """The runtime and config of the LangGraph run this is called in; None and {} outside of one."""
    try:
        from langgraph.config import get_config
        from langgraph.runtime import get_runtime
    except ImportError:  # langchain-core alone: tools and retrievers run without LangGraph
        return None, {}
    try:
        config = get_config()
    except RuntimeError:
        return None, {}
    try:
        return get_runtime(), config
    except (KeyError, RuntimeError):
        return None, config


def _field(context: Any, name: str) -> Any:
    return context.get(name) if isinstance(context, Mapping) else getattr(context, name, None)
