"""The settings.

Never reads this machine's own environment or files.
"""

import os
from pathlib import Path

import pytest

from daemon import config
from daemon.config import ConfigError, LoadedSettings, ServerSettings
from daemon.words.translation import preferred_language

KEYS = config.keys()


def load(
    tmp_path: Path, toml: str = "", environment: dict[str, str] | None = None, **flags: str
) -> LoadedSettings:
    file = tmp_path / "config.toml"
    file.write_text(toml, encoding="utf-8")
    return config.load(file, environment or {}, {key.replace("__", "."): text for key, text in flags.items()})


def refusal(tmp_path: Path, toml: str = "", environment: dict[str, str] | None = None, **flags: str) -> str:
    with pytest.raises(ConfigError) as error:
        load(tmp_path, toml, environment, **flags)
    words = str(error.value)
    assert "\n" not in words
    return words


def test_a_missing_file_is_an_empty_one(tmp_path: Path):
    loaded = config.load(tmp_path / "nowhere" / "config.toml", {}, {})
    assert loaded.settings == config.Settings()
    assert loaded.origins == {}


def test_a_flag_comes_before_the_environment_before_the_file_before_the_default(tmp_path: Path):
    toml = "[listen]\nport = 1\nhost = 'file'\n[device]\nname = 'file'\n"
    environment = {"PLACET_LISTEN_PORT": "2", "PLACET_LISTEN_HOST": "environment"}
    loaded = load(tmp_path, toml, environment, listen__port="3")
    listen = loaded.settings.listen
    assert (listen.port, listen.host, loaded.settings.device.name) == (3, "environment", "file")
    assert loaded.settings.mdns.enabled
    assert loaded.origins["listen.port"] == "flag"
    assert loaded.origins["listen.host"] == "PLACET_LISTEN_HOST"
    assert loaded.origins["device.name"].endswith("config.toml")


def test_every_key_can_be_set_by_the_environment(tmp_path: Path):
    texts = {
        "model.kind": "rules",
        "model.mode": "tools",
        "language": "de",
        "mdns.enabled": "false",
        "web.enabled": "true",
        "mailbox.suite": "x25519",
    }
    texts |= {"model.temperature": "0.5", "model.max_output_tokens": "700", "model.context_tokens": "4096"}
    texts |= {"model.extra": '{"top_p": 0.9}', "model.fallback": "rules", "models": '{"fast": {"name": "m"}}'}
    texts |= {"agents.for_new_tasks": "true", "agents.mode": "hybrid"}
    environment = {"PLACET_" + key.upper().replace(".", "_"): texts.get(key, "7") for key in KEYS}
    loaded = load(tmp_path, environment=environment)
    assert set(loaded.origins) == set(KEYS)
    assert (loaded.settings.wake.throttle_s, loaded.settings.budget.cost_per_day) == (7.0, 7.0)
    assert loaded.settings.peers.static == ("7",)


@pytest.mark.parametrize(
    "key",
    [
        "device.name",
        "listen.host",
        "listen.port",
        "peers.static",
        "mdns.enabled",
        "model.kind",
        "model.base_url",
        "model.name",
        "model.mode",
        "model.key_file",
        "wake.debounce_s",
        "wake.throttle_s",
        "wake.concurrency",
        "wake.run_max_s",
        "proposals.lifetime_s",
        "proposals.per_set",
        "proposals.open_per_day",
        "sovereignty.reason_min",
        "budget.cost_per_day",
        "history.retention_days",
        "history.agent_texts_days",
        "language",
    ],
)
def test_the_keys_that_scripts_drive_are_there(key: str):
    assert key in KEYS


def test_a_list_is_written_with_commas_outside_of_the_file(tmp_path: Path):
    environment = {"PLACET_PEERS_STATIC": "one:1, two:2,"}
    assert load(tmp_path, environment=environment).settings.peers.static == ("one:1", "two:2")
    assert load(tmp_path, "[peers]\nstatic = ['one:1']").settings.peers.static == ("one:1",)


@pytest.mark.parametrize(
    ("toml", "unknown", "nearest"),
    [
        ("[listen]\nprot = 1", "listen.prot", "listen.port"),
        ("[lisen]\nport = 1", "lisen.port", "listen.port"),
        ("[lisen]", "lisen", "nearest"),
        ("langage = 'de'", "langage", "language"),
        ("listen = 1", "listen", "listen."),
        ("[listen.port]\nx = 1", "listen.port", ""),
        ("[language]\nx = 1", "language.x", "language"),
    ],
)
def test_an_unknown_key_of_the_file_names_the_nearest_known_one(tmp_path: Path, toml, unknown, nearest):
    words = refusal(tmp_path, toml)
    assert unknown in words
    assert nearest in words
    assert "config.toml" in words


def test_further_models_and_what_a_server_alone_knows_are_tables(tmp_path: Path):
    toml = """
        [model]
        extra = { chat_template_kwargs = { enable_thinking = false } }
        [models.fast]
        base_url = "http://127.0.0.1:9/v1"
        temperature = 0.0
    """
    settings = load(tmp_path, toml).settings
    assert settings.model.extra == {"chat_template_kwargs": {"enable_thinking": False}}
    assert settings.models["fast"] == ServerSettings(base_url="http://127.0.0.1:9/v1", temperature=0.0)


@pytest.mark.parametrize(
    "toml", ["[models.Fast]\nname = 'm'", "[models.fast]\nkind = 'openai'", "[models]\nfast = 3"]
)
def test_a_further_model_has_a_plain_name_and_only_what_is_about_a_server(tmp_path: Path, toml: str):
    with pytest.raises(ConfigError, match="models"):
        load(tmp_path, toml)


def test_an_unknown_variable_names_the_nearest_known_one(tmp_path: Path):
    words = refusal(tmp_path, environment={"PLACET_LISTEN_PRT": "1"})
    assert "PLACET_LISTEN_PRT" in words
    assert "PLACET_LISTEN_PORT" in words


def test_an_unknown_flag_names_the_nearest_known_one(tmp_path: Path):
    assert "'listen.port'" in refusal(tmp_path, listen__prt="1")


def test_variables_that_are_no_settings_are_left_alone(tmp_path: Path):
    environment = {"PLACET_HOME": "/somewhere", "PLACET_MODEL_KEY": "secret", "HOME": "/root"}
    assert load(tmp_path, environment=environment).origins == {}


@pytest.mark.parametrize(
    ("toml", "observed"),
    [
        ("[listen]\nport = 65536", "65536"),
        ("[listen]\nport = -1", "-1"),
        ("[listen]\nport = '80'", "'80'"),
        ("[listen]\nport = true", "True"),
        ("[wake]\nconcurrency = 0", "0"),
        ("[wake]\ndebounce_s = -0.5", "-0.5"),
        ("[wake]\nrun_max_s = nan", "nan"),
        ("[proposals]\nlifetime_s = inf", "inf"),
        ("[budget]\ncost_per_day = inf", "inf"),
        ("[disk]\nfloor_mib = 9223372036854775808", "9223372036854775808"),
        ("[history]\nretention_days = 9223372036854775808", "9223372036854775808"),
        ("[model]\nkind = 'oracle'", "'oracle'"),
        ("[mdns]\nenabled = 1", "1"),
        ("[peers]\nstatic = 'one:1'", "'one:1'"),
        ("[peers]\nstatic = [1]", "[1]"),
        ("language = 'xx'", "'xx'"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_its_key(tmp_path: Path, toml, observed):
    assert observed in refusal(tmp_path, toml)


def test_a_word_that_is_none_of_those_that_may_be_is_told_them(tmp_path: Path):
    assert refusal(tmp_path, model__mode="foo").endswith(
        "model.mode = 'foo': one of auto, tools, actions, pieces is needed"
    )
    assert refusal(tmp_path, "language = 'xx'").endswith("one of en, de, es, fr, ro is needed")


def test_a_name_that_is_no_text_is_refused(tmp_path: Path):
    assert "not UTF-8" in refusal(tmp_path, environment={"PLACET_DEVICE_NAME": "K\udcfcche"})


@pytest.mark.parametrize("text", ["", "eighty", "1.5", "99999"])
def test_text_that_is_no_port_is_refused(tmp_path: Path, text):
    assert "PLACET_LISTEN_PORT" in refusal(tmp_path, environment={"PLACET_LISTEN_PORT": text})


def test_a_file_that_is_no_toml_is_one_line(tmp_path: Path):
    assert "cannot be read" in refusal(tmp_path, "[listen\nport")


def test_a_file_that_is_no_text_is_one_line(tmp_path: Path):
    file = tmp_path / "config.toml"
    file.write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="cannot be read"):
        config.load(file, {}, {})


@pytest.mark.parametrize(
    "toml",
    [
        f"[model]\nextra = {{a = {'[' * 5000}{']' * 5000}}}",
        f"[model]\nextra = {{a = {'[' * 40}{']' * 40}}}",
        f"[models.{'.'.join('a' * 500)}]\nname = 'x'",
        f"[model]\nextra.{'.'.join('a' * 500)} = 1",
        f"[disk]\nfloor_mib = {'9' * 5000}",
        f"[disk]\nfloor_mib = 0x{'f' * 20_000}",
        "[model]\nextra = {seed = 0x1" + "0" * 40 + "}",
        "[model]\nextra = {since = 2026-01-01}",
        "[model]\nextra = {temperature = nan}",
        "[model]\nextra = {temperature = inf}",
        "a" * 50_000 + " = 1",
        f"[device]\nname = '{'a' * 50_000}'",
        "[device]\nname = 'x'\n" * 20_000,
        "\ufeff[device]",
        "\0" * 20_000,
    ],
    ids=str.__len__,
)
def test_a_hostile_file_is_one_short_line(tmp_path: Path, toml: str):
    assert len(refusal(tmp_path, toml)) < len(str(tmp_path)) + 500


def test_a_file_without_end_is_not_read_on_and_on(tmp_path: Path):
    (tmp_path / "config.toml").symlink_to("/dev/zero")
    with pytest.raises(ConfigError, match="no file of at most"):
        config.load(tmp_path / "config.toml", {}, {})


def test_a_pipe_keeps_nobody_waiting(tmp_path: Path):
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(ConfigError, match="no file of at most"):
        config.load(tmp_path / "config.toml", {}, {})
    assert preferred_language({"PLACET_HOME": str(tmp_path), "LC_ALL": "C"}) == "en"


def test_a_table_of_a_variable_may_not_be_deep_either(tmp_path: Path):
    deep = f'{{"a":{"[" * 5000}{"]" * 5000}}}'
    assert "model.extra" in refusal(tmp_path, "", {"PLACET_MODEL_EXTRA": deep})
