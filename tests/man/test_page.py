"""The man page: up to date, complete, and without a fault that man(1) would name.

Never compares more than what the page is made of.
"""

import re
import subprocess

import click
import pytest

from daemon.cli.main import program
from tests.man import page
from tests.support.patience import LIMIT_S


def test_the_page_says_what_the_commands_say_now():
    """If this fails, run `make man`."""
    assert page.FILE.read_text(encoding="utf-8") == page.page()


@pytest.mark.parametrize("shell", page.COMPLETIONS)
def test_the_completion_script_is_what_the_command_prints_now(shell: str):
    """If this fails, run `make man`."""
    assert page.COMPLETIONS[shell].read_text(encoding="utf-8") == page.completion_text(shell)


def test_every_command_and_verb_has_its_place():
    text, root = page.page(), program()
    context = click.Context(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        verbs = command.commands if isinstance(command, click.Group) else [""]
        for verb in verbs:
            assert f"\\fB{f'placet {name} {verb}'.strip()}\\fR".replace("-", "\\-") in text


@pytest.mark.external("man")
def test_man_renders_it_without_a_warning():
    result = subprocess.run(
        ["man", "--warnings", "--local-file", page.FILE],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-ww"},
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=True,
    )
    assert result.stderr == ""
    plain = re.sub(".\b", "", result.stdout)
    assert "placet add" in plain
    assert "--due DATE" in plain


@pytest.mark.external("mandoc")
def test_mandoc_finds_no_fault():
    result = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", page.FILE],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    # A page that is made anew for each version has no date of its own.
    faults = [line for line in result.stdout.splitlines() if "missing date" not in line]
    assert faults == []
