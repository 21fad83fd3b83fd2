"""From what a caller gives to what is stored: pure functions over values."""
