"""How agents, proposals and decisions look on a terminal.

Never sends a request.
"""
