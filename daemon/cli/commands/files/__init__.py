"""Commands that import, export, back up and restore.

Never replaces a file before the new one is complete.
"""
