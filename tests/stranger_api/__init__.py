"""The API as a stranger meets it: by its description, with requests that another make's fuzzer draws from it.

Never part of the whole run: the fuzzer is installed beside (`make stranger-api`).
"""
