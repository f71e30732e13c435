"""The state of a change item, and what happens when a person decides on it.

Never decides by itself.
"""
