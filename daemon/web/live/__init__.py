"""The event stream of the page, and the script that follows it.

Never carries anything of the journal but the names of kinds.
"""
