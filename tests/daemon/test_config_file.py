"""Settings that a person changes: what is written, what is refused, what stays as it was.

Never touches the settings of whoever runs the tests.
"""

import stat
import tomllib
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from daemon import config, config_file
from daemon.config import ConfigError

KEYS = config.keys()

MINE = """# My own settings.
[listen]
host = "::1" # only here
port = 4433

# By hand, from the router.
[peers]
static = [
    "attic:4433", # the big one
]
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "placet" / "config.toml"
    path.parent.mkdir()
    path.write_text(MINE)
    return path


def refused(file: Path, key: str, text: str | None) -> str:
    before = file.read_text() if file.exists() else None
    with pytest.raises(ConfigError) as error:
        config_file.change_setting(str(file), key, text)
    assert (file.read_text() if file.exists() else None) == before
    return str(error.value)


def test_a_change_keeps_every_comment_and_the_order(file: Path):
    assert config_file.change_setting(str(file), "listen.port", "4434")
    assert file.read_text() == MINE.replace("port = 4433", "port = 4434")
    assert config_file.change_setting(str(file), "listen.port", "4433")
    assert file.read_text() == MINE


def test_a_key_of_no_table_is_written_before_the_first_one(file: Path):
    assert config_file.change_setting(str(file), "language", "ro")
    assert tomllib.loads(file.read_text())["language"] == "ro"
    assert config_file.change_setting(str(file), "language", None)
    assert config.load(file, {}, {}).origins.keys() == {"listen.host", "listen.port", "peers.static"}


@pytest.mark.parametrize(
    "toml", ["", "listen.port = 1\n", "listen = { port = 1 }\n", "[listen]\n", "# only this\n"]
)
def test_any_way_of_writing_a_table_takes_a_change(toml: str, file: Path):
    file.write_text(toml)
    config_file.change_setting(str(file), "listen.port", "2")
    config_file.change_setting(str(file), "device.name", "Küche")
    loaded = config.load(file, {}, {}).settings
    assert (loaded.listen.port, loaded.device.name) == (2, "Küche")


@pytest.mark.parametrize(
    ("key", "text", "value"),
    [
        ("mdns.enabled", "false", False),
        ("wake.debounce_s", "0.5", 0.5),
        ("wake.throttle_s", "5", 5.0),
        ("peers.static", "one:1, two:2", ["one:1", "two:2"]),
        ("peers.static", "", []),
        ("device.name", "", ""),
        ("device.name", 'a "quoted" \\ name', 'a "quoted" \\ name'),
    ],
)
def test_a_value_is_written_as_what_it_is(key: str, text: str, value: object, file: Path):
    config_file.change_setting(str(file), key, text)
    section, _, name = key.partition(".")
    assert tomllib.loads(file.read_text())[section][name] == value
    assert config_file.find_setting(str(file), {}, key) == (key, value, str(file))


TEXTS_OTHER_THAN_3 = {
    "agents.for_new_tasks": "true",
    "agents.mode": "hybrid",
    "language": "es",
    "mailbox.suite": "x25519",
    "mdns.enabled": "true",
    "web.enabled": "true",
    "model.context_tokens": "4096",
    "model.extra": '{"top_k": 3}',
    "model.fallback": "rules",
    "model.kind": "rules",
    "model.max_output_tokens": "512",
    "model.mode": "auto",
    "model.temperature": "0.5",
    "models": '{"small": {"name": "qwen"}}',
}


@pytest.mark.parametrize("key", config.keys())
def test_every_key_can_be_set_and_taken_out(key: str, tmp_path: Path):
    file = tmp_path / "made" / "config.toml"
    text = TEXTS_OTHER_THAN_3.get(key, "3")
    assert config_file.change_setting(str(file), key, text)
    assert not config_file.change_setting(str(file), key, text)
    assert config_file.find_setting(str(file), {}, key).origin == str(file)
    assert config_file.change_setting(str(file), key, None)
    assert not config_file.change_setting(str(file), key, None)
    assert config_file.find_setting(str(file), {}, key).origin == "default"


def test_an_unknown_key_is_refused_with_the_nearest(file: Path):
    assert "'listen.port'" in refused(file, "listen.prot", "1")
    assert "'language'" in refused(file, "langage", None)


@pytest.mark.parametrize(
    ("key", "text"),
    [("listen.port", "99999"), ("listen.port", "x"), ("language", "tlh"), ("mdns.enabled", "si")],
)
def test_a_value_that_cannot_be_used_is_refused_before_it_is_written(key: str, text: str, file: Path):
    assert key in refused(file, key, text)


@pytest.mark.parametrize("toml", ["[listen\n", "[listen]\nport = 'x'\n", "[listne]\nport = 1\n"])
def test_a_file_that_is_wrong_already_is_not_written_over(toml: str, file: Path):
    file.write_text(toml)
    assert str(file) in refused(file, "device.name", "x")


def test_the_file_is_its_owners_alone_and_nothing_is_left_beside_it(file: Path):
    file.chmod(0o644)
    config_file.change_setting(str(file), "device.name", "x")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["config.toml"]


def test_a_link_to_the_file_stays_one(file: Path, tmp_path: Path):
    link = tmp_path / "config.toml"
    link.symlink_to(file)
    config_file.change_setting(str(link), "device.name", "x")
    assert link.is_symlink()
    assert config_file.find_setting(str(file), {}, "device.name").value == "x"


def test_changes_at_the_same_time_are_all_kept(file: Path):
    chosen = [key for key in KEYS if key.startswith(("wake.", "proposals.", "disk."))]
    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(lambda key: config_file.change_setting(str(file), key, "7"), chosen))
    assert set(config.load(file, {}, {}).origins) >= set(chosen)


def test_a_folder_that_cannot_be_written_is_said_in_one_line(tmp_path: Path):
    (tmp_path / "taken").write_text("")
    with pytest.raises(ConfigError, match="taken"):
        config_file.change_setting(str(tmp_path / "taken" / "config.toml"), "device.name", "x")


def test_every_setting_tells_what_set_it(file: Path):
    settings = {
        setting.key: setting for setting in config_file.all_settings(str(file), {"PLACET_LISTEN_PORT": "7"})
    }
    assert settings.keys() == set(config.keys())
    assert settings["listen.port"] == ("listen.port", 7, "PLACET_LISTEN_PORT")
    assert settings["listen.host"].origin == str(file)
    assert settings["disk.floor_mib"].origin == "default"
