"""Reader, writer and importer of Placet's own JSON lines.

Never makes anyone a member: the roster is neither written nor read.
"""
