"""The built-in model, which reads notes by rules on this machine.

Never uses the network and never guesses.
"""
