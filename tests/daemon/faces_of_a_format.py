"""Each place that offers formats of files, asked for a format that is made up.

Never runs by itself: `test_file_formats.py` runs it with the plugin that makes up the format.
"""

from datetime import UTC
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from daemon.cli.commands.files import exports as export_commands
from daemon.cli.commands.files import imports as import_commands
from daemon.control.routes.transfers import exports, imports
from daemon.file_formats import format_by_ending
from daemon.formats.importing import Imports
from daemon.refusal import Refused
from daemon.web.files import import_routes
from tests.daemon.formats import transfers
from tests.daemon.web.conftest import Page
from tests.docs import reference
from tests.support.fleet import Home
from tests.support.made_up_format import ROW


class ImportPage(Page):
    def more_routes(self) -> list[web.RouteDef]:
        return import_routes.routes(self.services, Imports(self.store, lambda: UTC, self.now_ms))


def test_its_files_are_read(a: Home) -> None:
    assert transfers.bring(a, ROW.name, "Rake\nCall Ana\n").tasks == 2


def test_its_files_are_written(a: Home) -> None:
    assert transfers.export(a, ROW.name) == "made up\n"


def test_who_names_a_wrong_one_is_told_of_it(a: Home) -> None:
    for ask in (lambda: transfers.bring(a, "org", "x"), lambda: transfers.export(a, "org")):
        with pytest.raises(Refused) as refused:
            ask()
        assert ROW.name in repr(refused.value.hint)


@pytest.mark.parametrize("command", [import_commands.import_command, export_commands.export_command])
def test_a_command_takes_it(command: Any) -> None:
    [choice] = [option.type for option in command.params if option.name == "format"]
    assert ROW.name in choice.choices


def test_its_ending_tells_it() -> None:
    assert format_by_ending("list.MADE") == ROW.name


async def test_the_page_takes_its_files(tmp_path: Path) -> None:
    page = ImportPage(tmp_path)
    await page.start()
    await page.sign_in()
    try:
        text = (await page.ask("/import")).text
    finally:
        await page.stop()
        page.store.close()
    assert text.count(".made") == 2


def test_the_description_of_the_api_names_it() -> None:
    assert ROW.name in (imports.Import.__doc__ or "")
    assert ROW.title in (imports.Import.__doc__ or "")
    assert ROW.name in (exports.Export.__doc__ or "")


def test_the_reference_lists_it() -> None:
    assert f"| `{ROW.name}` | {ROW.title} | `{ROW.endings[0]}` |" in reference.json_lines_page()
