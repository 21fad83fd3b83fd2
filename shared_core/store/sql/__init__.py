"""Every SQL statement of the project, named, one file a backend."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files

from shared_core.store import copying

_NAME = re.compile(r"^-- name: (\w+)\n", re.M)

# The columns of a Record and where they come from, the same in every backend.
_RECORD = """
    r.seq, r.id, r.kind, r.type, r.text, r.subject, r.predicate, r.object, r.polarity, r.entities, r.source,
    r.importance, r.confidence, r.metadata, r.event_time, r.expires_at, r.pinned, s.name, r.message_id, r.role, r.name,
    r.status, r.seen, a.count, a.last_at, r.supersedes, r.superseded_by, r.valid_from, r.valid_until, r.created_at,
    r.updated_at, r.confirmed_at, o.user, o.agent
FROM record r LEFT JOIN scope o ON o.id = r.scope LEFT JOIN session s ON s.id = r.session
LEFT JOIN access a ON a.record = r.seq"""

# The records that a list shows, within the bounds of `recall.bounds`; "" and -1 stand for any.
_LISTED = """
    r.scope = :scope AND (r.expires_at IS NULL OR r.expires_at > :now) AND :kinds LIKE '%,' || r.kind || ',%'
    AND (:status = '' OR r.status = :status) AND (:type = '' OR r.type = :type) AND (:source = '' OR r.source = :source)
    AND (:pinned = -1 OR r.pinned = :pinned) AND r.importance BETWEEN :least AND :most
    AND r.created_at BETWEEN :since AND :until
    AND (:session = '' OR r.session IN (SELECT id FROM session WHERE scope = :scope AND name = :session))"""


@cache
def statements(backend: str) -> dict[str, str]:
    """The statements of a backend's file by name.

    >>> statements("sqlite")["find_scope"].split()[0]
    'SELECT'
    """
    text = files(__name__).joinpath(f"{backend}.sql").read_text(encoding="utf-8")
    parts = _NAME.split(text.replace("{record}", _RECORD.strip()).replace("{listed}", _LISTED.strip()))[1:]
    found = {name: body.strip().rstrip(";") for name, body in zip(parts[::2], parts[1::2], strict=True)}
    return found | (copying.statements() if backend == "sqlite" else {})
