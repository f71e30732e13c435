"""The relay: a small server that keeps sealed blobs for devices that are never online together.

Never opens a blob, and knows no vault, no key and no journal.
"""
