"""Dates, terms and sentences in the person's language.

Never changes what scripts read.
"""
