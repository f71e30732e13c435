"""Text, tables, colour, keys and the editor on a terminal.

Never knows what the journal contains.
"""
