"""Tests of identity, trust, pairing and links.

Never reaches beyond the loopback interface.
"""
