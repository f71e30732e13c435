"""The page of one agent: how it stands, what it reported, what it did, and what a person does to it.

Never decides on what it proposed: its cards do.
"""
