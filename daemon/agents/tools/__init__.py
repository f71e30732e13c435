"""The tools that a model can call: their table, arguments, effects and policy.

Never knows which model calls them, and never writes.
"""
