"""Letting in a device that is never online together with a member: by a request and an answer in a mailbox.

Never uses a code: whoever keeps the mailbox could try all of them.
"""
