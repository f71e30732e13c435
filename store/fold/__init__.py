"""The pure folds of commits into states, and the tables that keep the results.

Never reads a clock: the same commits always give the same rows.
"""
