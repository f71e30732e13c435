"""Other programs that bring stores together, each measured at the same work beside ours.

Nothing of Placet depends on them.
"""
