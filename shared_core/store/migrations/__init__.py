"""Append-only schema changes, one SQL file each; a released file is never edited."""
