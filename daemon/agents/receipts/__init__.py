"""Receipts: what was asked or proposed, what was decided on it, and the signatures that show it.

Never rests on this device's word: whoever has a receipt checks it again, without a journal.
"""
