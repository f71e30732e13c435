"""Fleets of real stores that run from one seed, and a judge that knows what really happened.

Never imports the daemon: what a person or an agent does is written here as raw operations.
"""
