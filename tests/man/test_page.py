"""The man page: up to date, complete, and without a fault that man(1) would name.

Never compares more than what the page is made of.
"""

import re
import shutil
import subprocess

import click
import pytest

from daemon.cli.main import program
from tests.man import page


def test_the_page_says_what_the_commands_say_now():
    """If this fails, run `make man`."""
    assert page.FILE.read_text(encoding="utf-8") == page.page()


def test_every_command_and_verb_has_its_place():
    text, root = page.page(), program()
    context = click.Context(root)
    for name in root.list_commands(context):
        command = root.get_command(context, name)
        verbs = command.commands if isinstance(command, click.Group) else [""]
        for verb in verbs:
            assert f"\\fB{f'placet {name} {verb}'.strip()}\\fR".replace("-", "\\-") in text


@pytest.mark.skipif(not shutil.which("man"), reason="man is not installed")
def test_man_renders_it_without_a_warning():
    done = subprocess.run(
        ["man", "--warnings", "--local-file", page.FILE],
        env={"PATH": "/usr/bin:/bin", "MANWIDTH": "80", "LC_ALL": "C.UTF-8", "MANROFFOPT": "-ww"},
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )
    assert done.stderr == ""
    plain = re.sub(".\b", "", done.stdout)
    assert "placet add" in plain
    assert "--due DATE" in plain


@pytest.mark.skipif(not shutil.which("mandoc"), reason="mandoc is not installed")
def test_mandoc_finds_no_fault():
    done = subprocess.run(
        ["mandoc", "-T", "lint", "-W", "warning", page.FILE],
        capture_output=True,
        text=True,
        timeout=30,
        check=False,
    )
    # A page that is made anew for each version has no date of its own.
    faults = [line for line in done.stdout.splitlines() if "missing date" not in line]
    assert faults == []
