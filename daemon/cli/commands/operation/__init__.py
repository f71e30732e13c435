"""Commands that run, configure and inspect the daemon itself.

Never changes the journal.
"""
