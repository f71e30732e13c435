"""The scheduler of agents, and one run from its start to its end.

Never shows anything to a person.
"""
