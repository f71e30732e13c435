"""Undo of a person's own changes: what a change replaced is written back, as one more change.

Never takes a commit out of the log, and never decides about a proposal: verdicts have their own way back.
"""
