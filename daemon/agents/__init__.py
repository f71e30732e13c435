"""Agents: what they may propose, how a person decides on it, and when they run.

Never changes the journal by an agent's word alone: a deferrable call waits for a person.
"""
