"""Mailboxes: places that keep sealed blobs for devices that are never online together.

Never trusts a place: what lies there is believed for its seal and its signature.
"""
