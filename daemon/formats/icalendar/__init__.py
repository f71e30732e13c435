"""Reader and writer of iCalendar files (RFC 5545).

Never writes to the journal: the reader returns a plan.
"""
