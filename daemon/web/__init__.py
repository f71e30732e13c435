"""The page: the daemon's face for browsers, beside the control API and the command line.

Never reads or writes the store by itself: it calls the use cases that the control API calls.
"""
