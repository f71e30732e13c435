"""The details of what waits on one task: before and after, why, what the notes say, and who decided what.

Never decides on what was not on the screen.
"""
