"""A scope, or a part of it, as lines of JSON: for export and import, and for the archive's files."""
