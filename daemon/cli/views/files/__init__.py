"""How imports, exports, backups and verification look on a terminal.

Never sends a request.
"""
