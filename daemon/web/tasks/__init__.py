"""The tasks of the page: the list, the board, one task, and making a new one.

Never shows what was removed, and never moves a task on a GET.
"""
