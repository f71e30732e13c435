"""Reader and writer of todo.txt files.

Never writes to the journal: the reader returns a plan.
"""
