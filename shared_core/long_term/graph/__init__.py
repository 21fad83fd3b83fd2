"""The knowledge graph of a scope (B4 to B6): told, kept, inferred, asked, drawn."""
