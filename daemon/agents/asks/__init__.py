"""Asks: permission for something outside the journal, which a person gives and an agent uses at most once."""
