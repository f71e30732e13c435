"""Hooks of other programs: what they say on standard input, and what they are answered.

Never decides, and never answers what nobody asked.
"""
