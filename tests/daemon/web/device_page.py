"""The page of a device that other devices can reach, asked as a browser asks."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from aiohttp import web

from daemon.browser_access import BrowserAccess
from daemon.config import WebSettings
from daemon.control.health.check import Check
from daemon.disk import DiskFloor
from daemon.journal.verification import verify_apart
from daemon.web.devices import devices_routes, health_routes, pairing_routes, verify_routes
from daemon.web.devices.verify_job import VerifyJob
from daemon.web.services import PageServices
from tests.daemon.peers.fleet import Device
from tests.daemon.web.conftest import Network, Page
from tests.support.fleet import Fleet as StoreFleet


class DevicePage(Page):
    """The page of one device of a fleet. `findings` are what its health shows."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.folder = device.folder
        self.fleet = StoreFleet(device.folder)
        self.store = device.db
        self.notifier = device.notifier
        self.access = BrowserAccess(self.now_ms, device.clock.monotonic_s, device.clock.randomness)
        self.services = PageServices(
            self.store,
            self.notifier,
            DiskFloor(self.folder, 0),
            self.access,
            self.now_ms,
            reason_min=20,
            open_per_day=50,
        )
        self.settings = WebSettings(enabled=True)
        self.network = Network()
        self.token = ""
        self.findings: list[Check] = []
        self.check = VerifyJob(partial(verify_apart, self.folder / "placet.db"), self.now_ms)

    def now_ms(self) -> int:
        return self.device.clock.now_ms()

    def more_routes(self) -> list[web.RouteDef]:
        async def findings() -> list[Check]:
            return self.findings

        return [
            *devices_routes.routes(self.services, self.device.peers),
            *health_routes.routes(self.services, self.device.peers.exchange_days, findings, self.check),
            *verify_routes.routes(self.services, self.check),
            *pairing_routes.routes(self.services, self.device.peers),
        ]


@asynccontextmanager
async def page_of(device: Device) -> AsyncIterator[DevicePage]:
    """Serve the page of a device, with a browser signed in."""
    page = DevicePage(device)
    await page.start()
    try:
        await page.sign_in()
        yield page
    finally:
        await page.stop()
