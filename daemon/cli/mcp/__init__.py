"""The door for programs that speak the Model Context Protocol: they propose and ask, under one name.

Never decides, and has no tool that does.
"""
