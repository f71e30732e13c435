"""Verification, backup and compaction.

Never changes what the journal says.
"""
