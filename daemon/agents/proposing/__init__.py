"""The way from a tool call to a change item that waits for a person.

Never puts a change into effect.
"""
