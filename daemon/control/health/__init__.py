"""The checks that `placet doctor` and `GET /v1/checks` report.

Never repairs anything.
"""
