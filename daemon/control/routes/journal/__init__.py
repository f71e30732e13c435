"""The routes on tasks and all that belongs to them.

Never decides a rule of the journal: use cases do.
"""
