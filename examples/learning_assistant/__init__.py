"""A personal learning assistant on twinmem, served over HTTP: profile, progress, practice, reviews, a tutor.

`python -m examples.learning_assistant --demo` starts it with a demo student. Everything of a student is kept
in that student's scope of one twinmem file; there is no second database.
"""
