"""The page on which a browser signs in.

Never shows anything of the journal.
"""
