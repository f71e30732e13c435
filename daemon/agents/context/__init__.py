"""What an agent's run is told about its task, cut to fit the budgets.

Never writes.
"""
