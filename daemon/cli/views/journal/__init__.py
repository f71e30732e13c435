"""How tasks and all that belongs to them look on a terminal.

Never sends a request.
"""
