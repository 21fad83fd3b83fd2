"""The truth: rows in one database, and the rules by which they are written and erased."""
