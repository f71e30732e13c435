"""Commands on tasks, checklists, notes, labels, links and time.

Never reads the database: the daemon does.
"""
