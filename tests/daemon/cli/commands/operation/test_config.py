"""`placet config`, with and without a daemon.

Never reads what the daemon would make of a value: tests/daemon/test_config_file.py does.
"""

from pathlib import Path

import pytest

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet


def test_a_setting_is_set_read_and_taken_out_without_a_daemon(placet: Placet, home: Path):
    assert placet("config", "set", "device.name", "My", "desk").out == "device.name = My desk\n"
    assert (home / "config.toml").read_text() == '[device]\nname = "My desk"\n'
    assert placet("config", "get", "device.name").out == "My desk\n"
    assert placet("config", "get", "device.name", "--json").json == {
        "key": "device.name",
        "value": "My desk",
        "origin": str(home / "config.toml"),
    }
    again = placet("config", "set", "device.name", "My desk")
    assert (again.status, again.err) == (0, "It was so already.\n")
    assert placet("config", "unset", "device.name").status == 0
    assert placet("config", "get", "device.name").out == "not set\n"


def test_show_names_what_set_each(placet: Placet, home: Path):
    placet("config", "set", "wake.debounce_s", "1")
    lines = placet("config", "show", "--origin", PLACET_LISTEN_PORT="7").out.splitlines()
    assert lines[0].split() == ["SETTING", "VALUE", "SET", "BY"]
    rows = {line.split()[0]: line.split()[1:] for line in lines[1:]}
    assert rows["wake.debounce_s"] == ["1.0", str(home / "config.toml")]
    assert rows["listen.port"] == ["7", "PLACET_LISTEN_PORT"]
    assert rows["mdns.enabled"] == ["true", "default"]
    assert "SET BY" not in placet("config", "show").out
    assert (
        "listen.port\t7\tPLACET_LISTEN_PORT"
        in placet("config", "show", "--plain", PLACET_LISTEN_PORT="7").out
    )


def test_an_empty_value_is_said_to_people_and_empty_for_scripts(placet: Placet):
    assert placet("config", "set", "device.name", "").out == "device.name: not set\n"
    assert placet("config", "get", "device.name").out == "not set\n"
    assert placet("config", "get", "device.name", "--plain").out == "\n"


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["set", "listen.prot", "1"], "'listen.port'"),
        (["set", "listen.port", "x"], "'x'"),
        (["set", "wake.debounce_s", "abc"], "wake.debounce_s = 'abc': a number is needed"),
        (["set", "foo.bar", "1"], "unknown setting 'foo.bar'; see `placet config show`"),
        (["get", "listen"], "unknown setting 'listen'"),
        (["unset", "prot"], "unknown setting"),
        (["set", "listen.port"], "Missing argument"),
    ],
)
def test_what_cannot_be_used_is_one_line(words: list[str], text: str, placet: Placet, home: Path):
    result = placet("config", *words)
    assert (result.status, result.out) == (2, "")
    assert text in result.err
    assert result.err.count("\n") == 1
    assert not (home / "config.toml").exists()


def test_a_running_daemon_takes_it_up_when_restarted(placet: Placet, home: Path, control: FakeControl):
    control.answers("GET /healthz", {"status": "ok", "version": "1", "feed_end": 0})
    assert placet("config", "set", "device.name", "x").err.endswith("after a restart.\n")
    systemd = home / "systemd/user"
    systemd.mkdir(parents=True)
    (systemd / "placet.service").write_text("")
    err = placet("config", "set", "device.name", "y", XDG_CONFIG_HOME=str(home)).err
    assert err.endswith("systemctl --user restart placet\n")


def test_a_variable_that_hides_a_setting_is_named(placet: Placet):
    result = placet("config", "set", "device.name", "x", PLACET_DEVICE_NAME="y")
    assert result.err == "It does not count as long as PLACET_DEVICE_NAME is set.\n"


def test_editing_keeps_only_what_can_be_used(placet: Placet, home: Path):
    well = placet("config", "edit", EDITOR='sh -c \'echo "[device]\nname = 1234" >"$0"\'')
    assert (well.status, "Expected `str`" in well.err) == (2, True)
    assert not (home / "config.toml").exists()
    assert placet("config", "edit", EDITOR='sh -c \'echo language=\\"de\\" >"$0"\'').status == 0
    assert placet("config", "get", "language").out == "de\n"


def test_no_editor_that_nobody_chose_opens_where_nobody_sees_it(placet: Placet, home: Path):
    result = placet("config", "edit", EDITOR="", VISUAL="")
    assert (result.status, result.err) == (
        2,
        "placet: no editor is set; set EDITOR, or give the text as an argument\n",
    )
    assert not (home / "config.toml").exists()


def test_a_draft_of_the_settings_is_named_as_one(placet: Placet):
    err = placet("config", "edit", EDITOR="sh -c 'echo x >\"$0\"'").err
    assert "/drafts/config-" in err
    assert ".toml" in err
