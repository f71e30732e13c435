"""How seldom Python looks through what the tests keep, for garbage that is not there.

Never throws anything away.
"""

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def garbage_search_paused() -> Iterator[None]:
    """Make many objects that stay, or measure time: Python looks through all objects as they become more."""
    searching = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if searching:
            gc.enable()
