"""A person's use cases: tasks, checklists, entries and what is shown of them.

Never knows a socket, a peer or an agent's run: the faces call it with an open transaction or snapshot.
"""
