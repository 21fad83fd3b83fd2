"""The verbs of a memory, a scope and a session that have a subject of their own: one module a subject."""
