"""The routes of the control API, one module per resource.

Never reads the database except through use cases.
"""
