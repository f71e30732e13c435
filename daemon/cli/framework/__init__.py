"""What all commands share: declaration, completion of values, and batches.

Never knows a single command.
"""
