"""Letting a new device into the vault, with a one-time code or a token.

Never trusts a device before it has proved the secret.
"""
