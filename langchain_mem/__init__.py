"""Adapters, being built."""
