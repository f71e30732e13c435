"""Links to members, and the replication that runs on them.

Never lets a device in: pairing does.
"""
