"""Passkeys on the page: adding one with the browser, listing and removing them.

Never decides on a proposal: a verdict that needs a passkey asks for it on the card.
"""
