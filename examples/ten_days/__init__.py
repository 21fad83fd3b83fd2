"""The material of `ten_conversations.py`: what is said and done in ten days, and what is asked of the memory then."""
