"""What a field of the journal can contain, and who wrote it.

Never reads or writes an entity.
"""
