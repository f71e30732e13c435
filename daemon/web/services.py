"""What the rooms of the page are given: the store's threads, the clock, the language, and settings.

Never a use case: each room imports its own.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field

from daemon.browser_access import BrowserAccess
from daemon.disk import DiskFloor
from daemon.notifier import Notifier
from daemon.peers.linking.device_states import DeviceState
from daemon.web.frame.rendering import Renderer
from daemon.web.viewer import Speech
from store.threads import StoreThreads


async def _no_device() -> Sequence[DeviceState]:
    return ()


@dataclass(frozen=True, slots=True)
class PageServices:
    """One daemon, as the page sees it. `reason_min` is how long an agent's reason against a tick must be.

    `open_per_day` is how many of an agent's open proposals of one day are put before a person at once.
    `device_states` lists the devices of the vault, for the foot of each page.
    """

    store: StoreThreads
    notifier: Notifier
    floor: DiskFloor
    access: BrowserAccess
    now_ms: Callable[[], int]
    reason_min: int
    open_per_day: int
    renderer: Renderer = field(default_factory=Renderer)
    speech: Speech = field(default_factory=Speech)
    device_states: Callable[[], Awaitable[Sequence[DeviceState]]] = _no_device
