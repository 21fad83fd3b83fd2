"""What follows a message once it is there: facts, events, the running summary, consolidation."""
