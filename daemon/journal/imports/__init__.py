"""Bringing a file into the journal: pure parsers make one neutral plan, and one writer applies it.

Never lets a format reach the store: what only one format has ends in its parser.
"""
