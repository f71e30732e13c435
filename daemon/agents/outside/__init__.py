"""Agents of other makers: what they propose, and how they read what became of it.

Never decides on a proposal.
"""
