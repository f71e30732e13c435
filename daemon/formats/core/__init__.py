"""What all formats share: the plan of an import, its execution, and tasks as they are exported.

Never knows a single format.
"""
