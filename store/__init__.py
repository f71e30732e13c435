"""What is kept: the commit log, its fold, and what consumers have seen of it, in one SQLite file.

Never opens a socket, reads a clock or draws randomness; it is the only package that knows SQL.
"""

DISTRIBUTION = "placet"
"""By which `placet.py` knows this package from others of its name."""
