"""The log of commits: chains, branches, the feed, and what a peer lacks.

Never knows what a commit means.
"""
