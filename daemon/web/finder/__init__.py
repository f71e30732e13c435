"""Finding tasks and actions while somebody types, and the list of all keys.

Never does an action: each row leads to a room, or names what a script of the page does.
"""
