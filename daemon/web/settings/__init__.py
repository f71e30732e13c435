"""Settings on the page: what a person may change in a browser, and what a command alone changes.

Never shows a key of a model.
"""
