"""The vocabulary and the conversation of Placet's sync: ids, clocks, commits, frames, the session.

Never does I/O, reads a clock, draws randomness or knows asyncio: all of these are parameters.
"""

DISTRIBUTION = "placet"
"""By which `placet.py` knows this package from others of its name."""
