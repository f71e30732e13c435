"""What belongs to this device alone and is never replicated.

Never changes the log.
"""
