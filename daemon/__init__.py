"""The daemon and its command line: every socket, clock and third party of Placet.

Never imports anything here: `placet --help` pays for every line of this file.
"""

__version__ = "0.1.0"
DISTRIBUTION = "placet"
"""By which `placet.py` knows this package from others of its name."""
