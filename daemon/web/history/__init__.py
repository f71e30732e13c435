"""What was done, and taking it back: the timeline of a task, a notice with Undo, what was removed.

Never decides what an undo writes: the journal does.
"""
