"""The review card: proposals, line by line, and a person's verdicts on them.

Never decides on what was not on the screen.
"""
