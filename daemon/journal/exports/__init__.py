"""Taking the journal out into a file: one writer a format, each a stream of text from one snapshot.

Never holds the whole of a file: what a writer yields is written on before it makes more.
"""
