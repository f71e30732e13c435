"""How devices, pairing and the state of replication look on a terminal.

Never sends a request.
"""
