"""Shows the state of the daemon, and whether all is well.

Never repairs: each finding names its remedy.
"""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING, Any, Final

from daemon.cli.api import client
from daemon.cli.api.client import ApiAnswer
from daemon.cli.api.command_error import EXIT_DONE, EXIT_FAILED, CommandError, full_folder
from daemon.cli.commands.operation.systemd_unit import SOCKET_UNIT_NAME, unit_file
from daemon.cli.framework.declaration import command, pass_output
from daemon.cli.views.devices.status import HealthCheckResult, check_lines, status_rows, status_screen
from daemon.paths import find_paths
from daemon.words.sentences import answer_words, sentence_words
from daemon.words.translation import _, gettext_noop

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from daemon.cli.terminal.display import Display
    from daemon.cli.terminal.output import Output


_CHECKS: Final = (
    gettext_noop("disk"),
    gettext_noop("socket"),
    gettext_noop("lease"),
    gettext_noop("clock"),
    gettext_noop("devices"),
    gettext_noop("checks"),
    gettext_noop("verdicts"),
    gettext_noop("decisions"),
    gettext_noop("copies"),
    gettext_noop("mdns"),
)
"""What is looked at of a device, if no other words of Placet name it."""


@command("status")
@pass_output
def status_command(output: Output) -> None:
    """Show the state of this device, the others and the agents. With --plain: a name and a value per line."""
    output.write_answer(client.get("/v1/status"), status_screen, status_rows)


@command("doctor")
@pass_output
def doctor_command(output: Output) -> int:
    """Check that everything works, and say how to repair what does not."""
    checks = list(_checks())
    documents = [check._asdict() for check in checks]
    output.write_answer(ApiAnswer(documents, ""), lambda _, display: _view(checks, display), _rows)
    return EXIT_DONE if all(check.well for check in checks) else EXIT_FAILED


def _view(checks: Sequence[HealthCheckResult], display: Display) -> Iterator[str]:
    return check_lines(checks, display)


def _rows(checks_json: list[dict[str, Any]]) -> Iterator[Sequence[object]]:
    return (tuple(check.values()) for check in checks_json)


def _checks() -> Iterator[HealthCheckResult]:
    for folder in find_paths().folders():
        yield _folder(folder)
    try:
        status = client.get("/v1/status").json
    except CommandError as refusal:
        yield _refused_check(gettext_noop("daemon"), _with_unit_hint(refusal))
        folder = full_folder()
        if refusal.code == "no_daemon" and folder:
            full = _("{folder} has no room for the daemon to start").format(folder=folder)
            yield HealthCheckResult(
                "disk", False, full, _("free some space; the service starts by itself then")
            )
        return
    yield HealthCheckResult(
        gettext_noop("daemon"), True, _("answers as {name}").format(name=status.get("name"))
    )
    yield from _daemons_own()


def _daemons_own() -> Iterator[HealthCheckResult]:
    try:
        json = client.get("/v1/checks").json
    except CommandError as refusal:
        yield _refused_check("checks", refusal)
        return
    for check_json in json:
        yield HealthCheckResult(
            check_json["name"],
            bool(check_json["well"]),
            answer_words(check_json, "found"),
            answer_words(check_json, "remedy"),
        )


def _with_unit_hint(refusal: CommandError) -> CommandError:
    """Return a refusal with what to do if systemd was to listen for the daemon."""
    if refusal.code != "no_daemon" or full_folder() or not os.path.exists(unit_file(SOCKET_UNIT_NAME)):
        return refusal
    return CommandError(
        refusal.code,
        refusal.message,
        _("run `{command}`").format(command=f"systemctl --user restart {SOCKET_UNIT_NAME}"),
    )


def _refused_check(name: str, refusal: CommandError) -> HealthCheckResult:
    """Return the finding that the daemon did not answer what was asked."""
    return HealthCheckResult(
        name,
        False,
        sentence_words(refusal.sentence, refusal.message),
        sentence_words(refusal.hint_sentence, refusal.hint),
    )


def _folder(folder: str) -> HealthCheckResult:
    try:
        status = os.stat(folder)
    except FileNotFoundError:
        return HealthCheckResult(
            gettext_noop("folder"), True, _("{folder} is made at the first start").format(folder=folder)
        )
    if status.st_uid != os.geteuid():
        return HealthCheckResult(
            "folder",
            False,
            _("{folder} belongs to another user (uid {uid})").format(folder=folder, uid=status.st_uid),
            _("run placet as that user, or name a folder of your own in PLACET_HOME"),
        )
    mode = stat.S_IMODE(status.st_mode)
    if mode & 0o077:
        return HealthCheckResult(
            "folder",
            False,
            _("{folder} is open to others (mode {mode})").format(folder=folder, mode=f"{mode:o}"),
            f"chmod 700 {folder}",
        )
    return HealthCheckResult("folder", True, _("{folder} is yours alone").format(folder=folder))
