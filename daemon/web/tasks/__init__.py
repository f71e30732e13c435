"""The tasks of the page: the list, one task, and making a new one.

Never shows what was removed.
"""
