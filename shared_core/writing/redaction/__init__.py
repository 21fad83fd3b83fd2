"""Private data in texts: found, and put out of them before anything is stored (E1)."""
