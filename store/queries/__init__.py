"""Questions to a snapshot, one module per subject.

Never writes.
"""
