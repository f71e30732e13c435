"""The first page: what a person does next, and what waits for a word of theirs.

Never decides what is in a day: the journal does.
"""
