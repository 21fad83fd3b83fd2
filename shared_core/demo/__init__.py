"""The story that `twinmem demo` tells through one framework and asks about through the other.

`tell` and `ask` run in processes of their own and are the only modules here that need the adapters.
"""
