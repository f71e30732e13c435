"""What comes again: series, and the tasks that follow from them.

Never decides what a person may do: the use cases do.
"""
