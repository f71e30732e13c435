"""The routes by which whole files come in and go out.

Never keeps a whole file in memory.
"""
