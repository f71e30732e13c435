"""What a person does with agents: create, list, pause, move and destroy them.

Never runs a model.
"""
