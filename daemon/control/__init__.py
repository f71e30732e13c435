"""The control API: HTTP and JSON on the Unix socket, for the command line and scripts.

Never decides anything about tasks, agents or peers: it validates, calls a use case, and answers.
"""
