"""What a person's words refer to: ids, names and filters.

Never writes.
"""
