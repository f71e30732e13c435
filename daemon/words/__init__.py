"""Dates, terms, values and sentences in the person's language: the command line and the page share them.

Never changes what scripts read, and never knows who shows it: no colours, no page, no socket.
"""
