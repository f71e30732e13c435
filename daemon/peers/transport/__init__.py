"""Connections between devices: addresses, keys, trust, listening and connecting.

Never knows what the frames mean.
"""
