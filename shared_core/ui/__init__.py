"""The local page: everything kept about a user, to be seen, searched, changed and deleted in a browser (E3)."""
