"""Undo on the page: what was just done, with a button that takes it back, and the list of what was removed.

Never decides what an undo writes: the journal does.
"""
