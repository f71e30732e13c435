"""Tests of the agents: what they may propose, how people decide, when they run."""
