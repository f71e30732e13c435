"""The mode `pieces`: code cuts notes into pieces, a small model sorts them, and code makes the calls.

Never asks a server: `chat_model.py` does.
"""
