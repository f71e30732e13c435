"""Lets `python -m daemon` be the `placet` command.

Never holds logic of its own.
"""

from daemon.cli.main import main

main()
