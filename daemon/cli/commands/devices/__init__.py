"""Commands that pair, list and synchronise devices.

Never opens a connection to a peer: the daemon does.
"""
