"""A look at the pages of the database while nobody writes: damage is found that no read has met yet.

Never repairs anything, and never looks at more than one table at a time.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final

import structlog

from store.file.errors import StoreError
from store.threads import StoreThreads

TABLE_EVERY_S: Final = 30.0
WAITS_MAX: Final = 20
ALL_EVERY_S: Final = 86_400.0

log = structlog.get_logger("daemon")


async def check_while_idle(
    store: StoreThreads, sleep: Callable[[float], Awaitable[object]] = asyncio.sleep
) -> None:
    """Check one table after the other, each after a while without a write, until one is damaged."""
    while store.damage is None:
        try:
            for table in await store.table_names():
                await _idle(store, sleep)
                await store.check_table(table)
        except StoreError as fault:
            log.warning("a check of the database ended early", reason=fault.sentence.text)
        except Exception:
            # A bug here costs one day's check, and never all later ones.
            log.exception("the database could not be checked")
        await sleep(ALL_EVERY_S)


async def _idle(store: StoreThreads, sleep: Callable[[float], Awaitable[object]]) -> None:
    """Wait until nothing was written for a while, but not for ever if the journal is in steady use."""
    for _ in range(WAITS_MAX):
        end = store.feed_end
        await sleep(TABLE_EVERY_S)
        if end == store.feed_end:
            return
