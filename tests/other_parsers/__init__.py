"""Days as two parsers of other makers read them, beside Placet's grammar; differences are judged by kind.

Never part of the whole run: the parsers are installed beside (`make other-parsers`).
"""
