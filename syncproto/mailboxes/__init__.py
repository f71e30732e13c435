"""What devices that are never online together leave for each other: blobs, sealed and signed.

Never does input or output. Whoever carries the blobs can delete and delay them, and learns their sizes.
"""
