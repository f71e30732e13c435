"""Vector files, and the second implementation of PROTOCOL.md that writes them.

Never imports syncproto, store or daemon, except in the test that holds them to the files.
"""
