"""The language that the command line speaks: whose, and to whom not.

Never tests a translation for its words beyond a few that show which language it is.
"""

from pathlib import Path

import pytest

from daemon.language import chosen_language
from daemon.words import translation
from tests.daemon.cli import examples
from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

REFUSED = {
    "en": "no daemon answers",
    "de": "kein Dienst antwortet",
    "es": "ningún servicio responde",
    "fr": "aucun service ne répond",
    "ro": "niciun serviciu nu răspunde",
}


@pytest.mark.parametrize("language", REFUSED)
def test_a_refusal_is_said_in_the_language_of_the_locale(language: str, placet: Placet):
    result = placet("list", LANG=f"{language}_XX.UTF-8")
    assert result.status == 3
    assert REFUSED[language] in result.err


@pytest.mark.parametrize(
    ("environment", "file", "language"),
    [
        ({"LANG": "de_DE.UTF-8"}, "", "de"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR"}, "", "fr"),
        ({"LANG": "de_DE.UTF-8", "LC_MESSAGES": "fr_FR", "LC_ALL": "C"}, "", "en"),
        ({"LANG": "ja_JP"}, "", "en"),
        ({"LANG": "de_DE"}, 'language = "es"', "es"),
        ({"LANG": "de_DE"}, "# mine\n\nlanguage='ro' # so\n[device]\nname = 'x'", "ro"),
        ({"LANG": "de_DE"}, "[device]\nlanguage = 'es'", "de"),
        ({"LANG": "de_DE"}, 'language = "klingon"', "de"),
        ({"LANG": "de_DE", "PLACET_LANGUAGE": "fr"}, 'language = "es"', "fr"),
        ({}, "", "en"),
    ],
)
def test_the_setting_comes_before_the_locale(environment, file: str, language: str, tmp_path: Path):
    (tmp_path / "config.toml").write_text(file)
    assert translation.preferred_language({"PLACET_HOME": str(tmp_path), **environment}) == language


def test_without_a_file_of_settings_the_locale_says(tmp_path: Path):
    assert translation.preferred_language({"PLACET_HOME": str(tmp_path / "gone"), "LANG": "ro"}) == "ro"
    assert chosen_language("", {"LC_ALL": "", "LANG": "es_ES@euro"}) == "es"


@pytest.mark.parametrize("form", ["--json", "--plain"])
@pytest.mark.parametrize("args", [["list"], ["doctor"], ["status", "--bad"], ["lisst"]])
def test_scripts_are_never_spoken_to_in_another_language(args: list[str], form: str, placet: Placet):
    english, german = placet(*args, form), placet(*args, form, LANG="de_DE.UTF-8")
    assert (german.out, german.err) == (english.out, english.err)


def test_a_whole_screen_is_in_one_language(placet: Placet, control: FakeControl):
    control.answers("GET /v1/status", examples.STATUS)
    german = placet("status", LANG="de_DE.UTF-8").out
    assert "enthält" in german
    assert not {"holds", "state", "agents", "proposals", "waits", "away"} & set(german.split())


def test_times_are_said_as_their_language_says_them(monkeypatch: pytest.MonkeyPatch):
    from daemon.words.dates import due_words, full_day_words, relative_time

    now_s = 1_800_000_000.0  # Fri 15 Jan 2027, 08:00 UTC
    monkeypatch.setenv("LANGUAGE", "")
    words = {}
    try:
        for language in REFUSED:
            translation.use_language(language)
            moments = [
                relative_time((now_s - past_s) * 1000, now_s)
                for past_s in (0, 120, 7200, 3 * 86400, 20 * 86400)
            ]
            words[language] = [
                *moments,
                due_words("2027-01-18", now_s)[0],
                full_day_words("2027-03-15", now_s).words,
            ]
    finally:
        translation.use_language("en")
    assert words == {
        "en": ["just now", "2 min ago", "2 h ago", "3 days ago", "26 Dec 2026", "Mon", "Mon 15 Mar 2027"],
        "de": ["eben", "vor 2 min", "vor 2 h", "vor 3 Tagen", "26. Dez. 2026", "Mo", "Mo, 15. März 2027"],
        "es": [
            "ahora mismo",
            "hace 2 min",
            "hace 2 h",
            "hace 3 días",
            "26 dic 2026",
            "lun",
            "lun 15 mar 2027",
        ],
        "fr": [
            "à l'instant",
            "il y a 2 min",
            "il y a 2 h",
            "il y a 3 jours",
            "26 déc. 2026",
            "lun.",
            "lun. 15 mars 2027",
        ],
        "ro": [
            "chiar acum",
            "acum 2 min",
            "acum 2 h",
            "acum 3 zile",
            "26 dec. 2026",
            "lun.",
            "lun., 15 mar. 2027",
        ],
    }


def test_romanian_counts_in_three_forms():
    try:
        translation.use_language("ro")
        counted = [
            translation.ngettext("in {count} day", "in {count} days", count).format(count=count)
            for count in (1, 2, 19, 20, 101)
        ]
    finally:
        translation.use_language("en")
    assert counted == ["peste 1 zi", "peste 2 zile", "peste 19 zile", "peste 20 de zile", "peste 101 zile"]
