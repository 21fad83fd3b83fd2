"""The text for the prompt: gathered from every part, put together within a budget, worded and fenced."""
