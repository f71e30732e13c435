"""What every page has: the layout, the style, and how templates are filled.

Never knows what a page shows.
"""
