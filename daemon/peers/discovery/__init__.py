"""Finding members on the local network by mDNS.

Never reveals to strangers which devices are here.
"""
