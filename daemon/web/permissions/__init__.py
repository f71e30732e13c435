"""The permissions on the page: what agents ask for, verbatim, and a person's yes or no.

Never uses a permission.
"""
