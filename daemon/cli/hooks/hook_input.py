"""What a client writes to its hook on standard input, read for a limited time.

Never waits for the end of an input that is whole: some clients leave it open.
"""

from __future__ import annotations

import json
import os
import select
import time
from typing import Final

from daemon.cli.hooks.hook_protocol import INPUT_BYTES_MAX, HookFault

_READ_BYTES: Final = 1 << 16


def read_input(descriptor: int, until_s: float) -> bytes:
    """Return the input, one byte more than may be asked at most. Raises HookFault if it stays half.

    `until_s` is a time of the monotonic clock.
    """
    parts, length = [], 0
    while length <= INPUT_BYTES_MAX:
        if not _is_readable(descriptor, max(0.0, until_s - time.monotonic())):
            raise HookFault("the input was not sent whole in time")
        part = os.read(descriptor, _READ_BYTES)
        parts.append(part)
        length += len(part)
        if not part or (part.rstrip().endswith(b"}") and _is_whole(descriptor, parts)):
            break
    return b"".join(parts)[: INPUT_BYTES_MAX + 1]


def _is_whole(descriptor: int, parts: list[bytes]) -> bool:
    """Report whether nothing more has been sent, and what was is JSON: no beginning of an object is."""
    if _is_readable(descriptor, 0.0):
        return False
    try:
        json.loads(b"".join(parts))
    except (ValueError, RecursionError):
        return False
    return True


def _is_readable(descriptor: int, wait_s: float) -> bool:
    return bool(select.select([descriptor], [], [], wait_s)[0])
