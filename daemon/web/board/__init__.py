"""The tasks by status, and moving one to another status.

Never moves a task on a GET.
"""
