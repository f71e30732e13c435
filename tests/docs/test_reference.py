"""The generated pages of docs/reference are what the program says today.

Never writes them: `make reference` does.
"""

import pytest

from tests.docs import reference


@pytest.mark.parametrize("name", ["commands.md", "settings.md", "json-lines.md"])
def test_a_page_is_current(name: str) -> None:
    write = {
        "commands.md": reference.commands_page,
        "settings.md": reference.settings_page,
        "json-lines.md": reference.json_lines_page,
    }[name]
    assert (reference.FOLDER / name).read_text("utf-8") == write(), "run `make reference`"


@pytest.mark.e2e
def test_the_page_of_the_api_is_what_a_daemon_says_of_itself() -> None:
    page = reference.api_page(reference.described_by_a_daemon())
    assert (reference.FOLDER / "api.md").read_text("utf-8") == page, "run `make reference`"
