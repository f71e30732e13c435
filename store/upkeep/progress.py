"""How long work reports its progress to whoever started it.

Never knows who listens, or whether anybody does.
"""

from collections.abc import Callable

ReportProgress = Callable[[str, int, int], None]
"""Called now and then with the stage in plain words ("reading the log"), the position, and the end.

The end is 0 if it is not known."""
