"""Other devices: who they are, whom this one trusts, how they are let in, and the links to them.

Never decides what a commit means; the store does.
"""
