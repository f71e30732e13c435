"""What lets a browser install the page: its manifest, its icons, and a worker that says the daemon is away.

Never anything of the journal: all of it is served to whoever asks.
"""
