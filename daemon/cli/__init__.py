"""The command line: a thin client of the control API.

Never imports the daemon's other parts, a third party beside click, or anything
that a command does not use: a person waits for every import.
"""
