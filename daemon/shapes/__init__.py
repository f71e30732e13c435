"""The shapes of the API's requests and answers as dictionaries, for type checkers: `make shapes` writes them.

Never imported at run time.
"""
