"""What the verbs of the command line do; `shared_core.cli` says how they are called."""
