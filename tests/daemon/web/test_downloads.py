"""The journal as a download: exports and a backup, for a browser that is signed in."""

from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC
from pathlib import Path

import pytest
from aiohttp import web

from daemon.control.routes.transfers.exports import ExportRoutes
from daemon.disk import DiskFloor
from daemon.file_formats import FILE_FORMATS, FileFormat
from daemon.web.files import download_routes
from store.upkeep.backup import HEADER
from tests.daemon.web.conftest import Page


class DownloadPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        exports = ExportRoutes(self.store, self.folder, self.services.floor, lambda: UTC)
        return download_routes.routes(self.services, self.folder / "placet.db", exports.send)


@pytest.fixture
async def page(tmp_path: Path) -> AsyncIterator[DownloadPage]:
    page = DownloadPage(tmp_path)
    await page.start()
    await page.sign_in()
    yield page
    await page.stop()
    page.store.close()


@pytest.mark.parametrize("format_", FILE_FORMATS, ids=lambda row: row.name)
async def test_an_export_is_saved_under_a_name_of_its_format(page: DownloadPage, format_: FileFormat):
    await page.propose(("update_task_estimate", {"minutes": 120}))
    answer = await page.ask(f"/download/{format_.name}")
    assert (answer.status, "Task of run" in answer.text) == (200, True)
    assert answer.headers["Content-Disposition"].endswith(f'{format_.endings[0]}"')
    assert answer.headers["Content-Disposition"].startswith("attachment;")
    assert answer.headers["X-Content-Type-Options"] == "nosniff"


async def test_a_backup_is_a_whole_journal_and_nothing_of_it_stays(
    page: DownloadPage, tmp_path: Path
) -> None:
    await page.propose(("update_task_estimate", {"minutes": 120}))
    before = {path.name for path in page.folder.iterdir()}
    async with page.session.get(
        f"http://127.0.0.1:{page.port}/download/backup",
        headers={"Host": page.host, "Cookie": f"placet={page.token}"},
    ) as response:
        copy = tmp_path / "copy.backup"
        copy.write_bytes(await response.read())
        assert response.headers["Content-Disposition"].endswith('.backup"')
    assert copy.read_bytes().startswith(HEADER)
    assert copy.stat().st_size >= (page.folder / "placet.db").stat().st_size // 2
    assert {path.name for path in page.folder.iterdir()} == before | {"copy.backup"}


async def test_what_is_no_file_and_who_is_not_signed_in_get_nothing(page: DownloadPage) -> None:
    for path in ("/download/exe", "/download/..%2Fplacet.db", "/download/"):
        assert (await page.ask(path)).status == 404
    page.token = ""
    assert (await page.ask("/download/backup")).status == 401


async def test_a_full_disk_is_told_and_no_backup_is_begun(page: DownloadPage) -> None:
    page.services = replace(page.services, floor=DiskFloor(page.folder, 1 << 62))
    await page.stop()
    await page.start()
    await page.sign_in()
    # A folder remembers that a file was made in it, also if it is gone again.
    before = page.folder.stat().st_mtime_ns
    answer = await page.ask("/download/backup")
    assert (answer.status, "Content-Disposition" in answer.headers) == (409, False)
    assert page.folder.stat().st_mtime_ns == before
