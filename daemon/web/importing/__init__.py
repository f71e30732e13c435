"""Importing a file: what it would bring, how far it is, and what came of it.

Never imports anything that was not shown before.
"""
