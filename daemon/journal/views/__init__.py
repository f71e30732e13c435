"""How the journal is shown to its clients.

Never writes.
"""
