"""The composition root: puts the daemon together, runs it, and takes it apart again.

Never holds a rule of the journal, the agents or the peers.
"""

from daemon.app.startup import main

__all__ = ["main"]
