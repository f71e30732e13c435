"""The words and patterns of each language that the built-in model knows.

Never decides what a note means.
"""
