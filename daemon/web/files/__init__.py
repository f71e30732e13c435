"""Files on the page: importing one (what it would bring, how far it is, what came of it), and downloads.

Never imports anything that was not shown before.
"""
