"""The first page: everything that waits for a person.

Never decides anything.
"""
