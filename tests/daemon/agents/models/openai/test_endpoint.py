"""Which addresses and keys are taken, and what is said of those that are not.

Never asks a server.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from daemon.agents.models.openai.endpoint import Endpoint, KeyRedactor, read_endpoint
from daemon.config import ConfigError, ModelSettings
from tests.support.patience import LIMIT_S

SAFE = "https://models.example/v1"
KEY = "sk-Kanarienvogel"


def settings(base_url: str = SAFE, name: str = "fake-1", key_file: str = "") -> ModelSettings:
    return ModelSettings(kind="openai", base_url=base_url, name=name, key_file=key_file)


@pytest.mark.parametrize(
    "address",
    [
        SAFE,
        "http://127.0.0.1:8080/v1",
        "http://127.8.9.10/v1",
        "http://[::1]:8080/v1",
        "http://localhost:11434/v1/",
        "https://[2001:db8::1]/v1",
    ],
)
def test_an_address_is_taken_that_is_encrypted_or_this_machines_own(address: str):
    assert read_endpoint(settings(address), {}).base_url == address


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://models.example/v1", "in the clear"),
        ("http://192.168.1.5:8080/v1", "in the clear"),
        ("http://0.0.0.0:8080/v1", "in the clear"),
        ("http://127.1:8080/v1", "in the clear"),
        ("http://127.0.0.1.evil.example/v1", "in the clear"),
        ("http://localhost.evil.example/v1", "in the clear"),
        ("http://[::ffff:192.168.1.5]/v1", "in the clear"),
        ("https://models.example:99999/v1", "range"),
        ("https://[1:2]/v1", "address"),
        ("", "empty"),
    ],
)
def test_an_address_that_is_neither_is_refused_and_shown(address: str, words: str):
    with pytest.raises(ConfigError, match=words) as refused:
        read_endpoint(settings(address), {})
    assert address in str(refused.value)


@pytest.mark.parametrize(
    "address",
    [
        "https://user:geheim@models.example/v1",
        "https://models.example/v1?key=geheim",
        "https://models.example/v1#geheim",
        "http://127.0.0.1\\@geheim.example/v1",
        "http://127.0.0.1 .geheim.example/v1",
        "https://models.example/v1\n/geheim",
        "file:///geheim",
        "ftp://geheim.example",
        "geheim.example/v1",
        "https://",
    ],
)
def test_what_is_no_plain_address_is_refused_and_not_shown(address: str):
    with pytest.raises(ConfigError, match="no plain http or https address") as refused:
        read_endpoint(settings(address), {})
    assert "geheim" not in str(refused.value)


def test_a_model_without_a_name_is_refused():
    with pytest.raises(ConfigError, match=r"model\.name is empty"):
        read_endpoint(settings(name=" "), {})


def test_the_key_comes_from_the_environment_before_the_credential_before_the_file(tmp_path: Path):
    file, credential = tmp_path / "key", tmp_path / "model_key"
    file.write_text(f"{KEY}-file\n")
    file.chmod(0o600)
    chosen = settings(key_file=str(file))
    assert read_endpoint(chosen, {}).key == f"{KEY}-file"
    where = {"CREDENTIALS_DIRECTORY": str(tmp_path)}
    assert read_endpoint(chosen, where).key == f"{KEY}-file"
    credential.write_text(f"{KEY}-credential")
    assert read_endpoint(chosen, where).key == f"{KEY}-credential"
    assert read_endpoint(chosen, where | {"PLACET_MODEL_KEY": f" {KEY}-env "}).key == f"{KEY}-env"
    assert read_endpoint(settings(), {"PLACET_MODEL_KEY": " "}).key == ""


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o644, 0o610])
def test_a_key_file_that_others_may_touch_is_refused(tmp_path: Path, mode: int):
    file = tmp_path / "key"
    file.write_text(KEY)
    file.chmod(mode)
    with pytest.raises(ConfigError, match=f"mode {mode:04o}.*chmod 600") as refused:
        read_endpoint(settings(key_file=str(file)), {})
    assert KEY not in str(refused.value)


def test_a_key_file_that_cannot_be_read_is_refused(tmp_path: Path):
    with pytest.raises(ConfigError, match="cannot be read: No such file"):
        read_endpoint(settings(key_file=str(tmp_path / "none")), {})
    with pytest.raises(ConfigError, match="cannot be read: Is a directory"):
        read_endpoint(settings(key_file=str(tmp_path)), {})


@pytest.mark.parametrize("key_file", ["key\0", "~no\0body/key", "~nobody-of-this-name/key", "k" * 5000])
def test_a_key_file_whose_name_no_file_has_is_refused(key_file: str):
    with pytest.raises(ConfigError, match="cannot be read"):
        read_endpoint(settings(key_file=key_file), {})


def test_an_address_that_is_longer_than_any_is_refused():
    with pytest.raises(ConfigError, match="no plain"):
        read_endpoint(settings(f"https://{'a' * 100_000}/v1"), {})


def test_a_key_file_that_is_a_pipe_keeps_nobody_waiting(tmp_path: Path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe, 0o600)
    with pytest.raises(ConfigError, match="does not contain a key"):
        read_endpoint(settings(key_file=str(pipe)), {})


@pytest.mark.parametrize("raw", [b"", b"\n", b"a b", b"a\nb", b"\xc3\xa9", b"a\x00b", b"k" * 5000])
def test_what_is_no_key_is_refused_and_not_shown(tmp_path: Path, raw: bytes):
    file = tmp_path / "key"
    file.write_bytes(raw)
    file.chmod(0o600)
    with pytest.raises(ConfigError, match="does not contain a key"):
        read_endpoint(settings(key_file=str(file)), {})


def test_the_environments_key_is_not_shown_either():
    with pytest.raises(ConfigError, match="PLACET_MODEL_KEY does not contain a key") as refused:
        read_endpoint(settings(), {"PLACET_MODEL_KEY": f"{KEY} {KEY}"})
    assert KEY not in str(refused.value)


def test_the_key_is_in_no_repr():
    assert KEY not in repr(Endpoint(SAFE, "fake-1", "auto", KEY))


def test_a_key_is_taken_out_of_names_and_values_at_any_depth():
    removed = KeyRedactor(KEY).redact_json({KEY: [f"a {KEY} b", {"x": KEY}], "n": 5, "none": None})
    assert KEY not in repr(removed)
    assert removed["n"] == 5
    assert KeyRedactor("short").redact_text("short") == "short"
    assert KeyRedactor("").redact_text("text") == "text"


def test_the_client_is_not_imported_until_a_daemon_is_to_use_it():
    ask = (
        "import sys, daemon.app.startup; print(sorted({'openai', 'httpx2', 'pydantic'} & sys.modules.keys()))"
    )
    result = subprocess.run(
        [sys.executable, "-c", ask], capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    assert result.stdout.strip() == "[]"
