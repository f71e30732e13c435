"""The demonstration: two daemons on this machine, one proposal, one person who decides on either.

Never imports the rest of Placet: it runs the installed `placet` commands, as a person would.
"""
