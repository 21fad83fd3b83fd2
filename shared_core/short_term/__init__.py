"""Short-term memory: what goes into the prompt."""
