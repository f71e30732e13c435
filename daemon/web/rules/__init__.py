"""Standing rules on the page: what an agent gets without asking each time.

Never makes a rule of what a person decided.
"""
