"""The database file: opening it, its migrations, and the lease that guards it against copies.

Never knows what the tables mean.
"""
