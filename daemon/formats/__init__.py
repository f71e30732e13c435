"""The file formats that Placet reads and writes, a folder per format.

Never known by the journal: formats import the journal, not the other way round.
"""
