"""The routes of the check of the whole journal: how far it is, and what came of it.

Never checks on a GET, and never repairs anything.
"""

from http import HTTPStatus
from typing import Final

from aiohttp import web

from daemon.web.devices.verify_job import Ended, Verifying, VerifyJob
from daemon.web.devices.verify_rows import progress_fields, verify_row
from daemon.web.page_answer import page_answer
from daemon.web.services import PageServices

PATH: Final = "/health/verify"


def routes(services: PageServices, check: VerifyJob) -> list[web.RouteDef]:
    """Return the routes of the check."""
    room = _Verification(services, check)
    return [web.get(PATH, room.show), web.post(PATH, room.begin)]


class _Verification:
    def __init__(self, services: PageServices, check: VerifyJob) -> None:
        self._services = services
        self._check = check

    async def show(self, request: web.Request) -> web.Response:
        """Show how far the check is, or what came of it; with `wait`, once it has ended, or soon."""
        job = self._check.job
        if "wait" in request.query:
            await job.wait()
        after, stage = self._services.store.feed_end, job.stage
        return await page_answer(
            self._services,
            "devices/verify.html",
            room="devices",
            after=after,
            mark=job.mark,
            lost=job.is_lost(request.query.get("job", "")) and stage is None,
            working=progress_fields(stage.progress) if isinstance(stage, Verifying) else None,
            ended=verify_row(stage, self._services.now_ms() / 1000) if isinstance(stage, Ended) else None,
        )

    async def begin(self, request: web.Request) -> web.Response:
        """Begin to check; if another tab has begun, that check is shown."""
        del request
        self._check.begin()
        await self._check.job.wait()
        address = f"{PATH}?job={self._check.job.mark}"
        return web.Response(status=HTTPStatus.SEE_OTHER, headers={"Location": address})
