"""The devices of the vault, as their entries in the log describe them.

Never opens a connection.
"""
