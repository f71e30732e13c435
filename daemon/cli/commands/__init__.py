"""The commands, by noun: each reads its arguments, asks the daemon, and passes the answer to a view.

Never words an answer, and never contains what another command needs.
"""
