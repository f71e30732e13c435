"""The devices of the vault, pairing, and the health of this one.

Never removes a device, and never leaves, without a page that asks first.
"""
