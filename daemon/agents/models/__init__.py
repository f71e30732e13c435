"""Models: what reads a task and calls tools, behind one interface.

Never touches the store: a model is given a context and answers with calls.
"""
