"""Tests of what is said: bytes, clocks, the conversation, and seeded simulations of it.

Never opens a socket or waits for a clock.
"""
