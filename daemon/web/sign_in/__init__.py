"""How a browser signs in, and the passkeys that a person adds to it.

Never shows anything of the journal before the browser is signed in, and never decides on a proposal: a
verdict that needs a passkey asks for it on the card.
"""
