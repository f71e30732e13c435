"""Standing rules: what a person wrote down beforehand, so that an agent need not ask for it each time.

Never learns a rule from what a person decided.
"""
