"""What outlives a conversation: the knowledge graph, and what follows from it."""
