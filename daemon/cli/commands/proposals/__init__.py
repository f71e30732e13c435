"""Commands on agents, their proposals and a person's decisions.

Never decides without the person's word.
"""
