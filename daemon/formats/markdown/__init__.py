"""Reader and writer of Markdown lists.

Never writes to the journal: the reader returns a plan.
"""
