"""How a question finds its memories: words and meaning side by side, fused, scored, explained."""
