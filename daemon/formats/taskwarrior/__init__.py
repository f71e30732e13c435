"""Reader and writer of Taskwarrior's JSON export.

Never writes to the journal: the reader returns a plan.
"""
