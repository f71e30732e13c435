"""What was decided, by whom and where, and taking a verdict back.

Never shows a decision as in effect that does not count.
"""
