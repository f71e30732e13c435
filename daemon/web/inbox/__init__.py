"""What waits for a person, and what they decided: the inbox, permissions, standing rules, earlier verdicts.

Never uses a permission, never makes a rule of what a person decided, and never shows a decision as in effect
that does not count.
"""
