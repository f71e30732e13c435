"""Lets `python -m daemon` be the `placet` command.

Never holds logic of its own.
"""

from placet import main

main()
