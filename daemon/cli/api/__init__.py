"""The client of the control API: requests, the shapes of answers, and errors.

Never prints.
"""
