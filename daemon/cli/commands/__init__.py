"""The commands, by noun: each reads its arguments, asks the daemon, and hands the answer to a view.

Never words an answer, and never holds what another command needs.
"""
