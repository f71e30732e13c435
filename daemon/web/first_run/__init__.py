"""The first three steps of a newcomer, each with a button: bring tasks in, give one an agent, pair a device.

Never does a step by itself.
"""
