"""The review card and the details behind it: proposals, line by line, why, and a person's verdicts on them.

Never decides on what was not on the screen.
"""
