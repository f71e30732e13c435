"""Runs the demonstration: `python -m daemon.demo`.

Never keeps anything: its folders are temporary and its daemons end with it.
"""

import sys

from daemon.demo.story import main

if __name__ == "__main__":
    sys.exit(main())
