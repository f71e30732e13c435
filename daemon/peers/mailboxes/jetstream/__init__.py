"""What the carrier of NATS rests on: its place, the client with bounds, and its faults in words.

Never knows what a blob is.
"""
