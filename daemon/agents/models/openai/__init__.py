"""The remote model, behind any server with the Chat Completions interface.

Never reads the journal: a run passes in everything that it sends.
"""
