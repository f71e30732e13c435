"""The views: answers of the control API as lines for a person, and as rows for a script.

Never asks the daemon, never prints: each is a function of JSON and a `Look`.
"""
