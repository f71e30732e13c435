"""The recipes of docs/guide/agents, run against the real packages by `make recipes`.

Never asks a model: each recipe's model is one that always calls the tool.
"""
