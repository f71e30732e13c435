"""Asks: what agents ask permission for outside the journal, what people decide on that, and each use.

Never acts outside the journal: the program that asked does that, after its use was granted.
"""
