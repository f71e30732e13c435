"""The routes of the health of this device: what needs somebody, and how the exchange went.

Never repairs anything: each finding names what a person can do.
"""

from collections.abc import Awaitable, Callable, Sequence

import msgspec
from aiohttp import web

from daemon.peers.exchange_days import ExchangeDays
from daemon.web.devices.health_rows import day_rows, finding_rows
from daemon.web.devices.verify_job import Ended, Verifying, VerifyJob
from daemon.web.devices.verify_rows import verify_row
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices

ListFindings = Callable[[], Awaitable[Sequence[msgspec.Struct]]]
"""Looks at disk, clocks, lease, model, connections, agents and states, as `placet doctor` does."""


def routes(
    services: PageServices, days: ExchangeDays, list_findings: ListFindings, check: VerifyJob
) -> list[web.RouteDef]:
    """Return the routes of health."""
    room = _Health(services, days, list_findings, check)
    return [web.get("/health", room.show)]


class _Health:
    def __init__(
        self, services: PageServices, days: ExchangeDays, list_findings: ListFindings, check: VerifyJob
    ) -> None:
        self._services = services
        self._days = days
        self._list_findings = list_findings
        self._check = check

    async def show(self, request: web.Request) -> web.Response:
        """Show what `placet doctor` finds, what needs somebody first, and the last days."""
        del request
        after = self._services.store.feed_end
        unwell, well = finding_rows(await self._list_findings())
        counted, stage = await self._days.list_days(), self._check.job.stage
        now_s = self._services.now_ms() / 1000
        return await page_answer(
            self._services,
            "devices/health.html",
            room="devices",
            after=after,
            unwell=unwell,
            well=well,
            days=day_rows(counted, self._days.today(), now_s),
            is_checking=isinstance(stage, Verifying),
            checked=verify_row(stage, now_s) if isinstance(stage, Ended) else None,
        )
