"""The timeline of a task: who did what where, what was made apart, and what an undo took back.

Never changes anything.
"""
