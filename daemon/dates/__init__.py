"""Days, times and lengths as people type them, in five languages.

Never knows the journal or the clock: the caller passes today's date.
"""
