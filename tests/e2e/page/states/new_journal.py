"""The states of the page on a new device: what is empty, first steps, signing in, and what is refused there.

Never makes anything that the next state of the table does not bear: imports come last.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.e2e.page.states.deeds import clicked, fetched, filled, in_turn, pressed, unfolded, uploaded
from tests.e2e.page.states.state import State, World
from tests.support.browser import WEB
from tests.support.devices import Device

NOBODY = "0" * 32
POST_A_NOTE = f"""() => {{
  const form = document.createElement("form");
  Object.assign(form, {{ method: "post", action: "/tasks/{NOBODY}" }});
  const note = document.createElement("textarea");
  Object.assign(note, {{ name: "note", value: "She answers on Monday.\\nThe keys are with her." }});
  form.append(note);
  document.body.append(form);
  form.submit();
}}"""
"""Sends what a tab sends that was open when the session ended."""


@contextmanager
def new_world(folder: Path, **settings: str) -> Iterator[World]:
    """Start a device that has nothing yet."""
    laptop = Device("laptop", folder / "laptop", WEB | settings)
    for name, content in {
        "TODO.md": "# Call Ana\n\nShe has the keys.\n\n# Rake\n\n- [ ] leaves\n",
        "photo.jpg": "no list",
    }.items():
        (folder / name).write_text(content)
    laptop.start()
    try:
        yield World(laptop, {"nobody": NOBODY})
    finally:
        laptop.kill()


def states_of_new_journal(folder: Path) -> list[State]:
    """Return the table."""
    return [*_EMPTY, *_SIGNED_OUT, *_DIALOGS, *_PAIRING, *_REFUSED, *_importing(folder)]


_EMPTY = [
    State("today-first-run"),
    State("inbox-first-run", "/inbox"),
    State("start", "/start"),
    State("tasks-none", "/tasks"),
    State("tasks-none-found", "/tasks?q=passport"),
    State("task-new", "/tasks/new"),
    State("board-empty", "/board"),
    State("board-empty-all", "/board?all=yes"),
    State("agents-none", "/agents", unfolded),
    State("permissions-none", "/permissions"),
    State("rules-none", "/rules"),
    State("decisions-none", "/decisions"),
    State("devices-alone", "/devices"),
    State("health", "/health"),
    State("passkeys-none", "/passkeys"),
    State("import", "/import"),
]
_SIGNED_OUT = [
    State("signed-out", status=401, has_session=False),
    State(
        "signed-out-with-typed-words",
        "/in",
        fetched(POST_A_NOTE, "textarea[readonly]"),
        has_session=False,
    ),
    State("sign-in", "/in", has_session=False),
    State(
        "sign-in-refused",
        "/in",
        filled({"#secret": "no-such-code"}, "button.main", "[role=alert]"),
        has_session=False,
    ),
]
_DIALOGS = [
    State(
        "more-rooms",
        deed=fetched("document.getElementById('more-rooms').showPopover()", "#more-rooms:popover-open"),
    ),
    State("keys", deed=pressed("?", "#keys[open]")),
    State("keys-page", "/keys"),
    State("finder", deed=pressed("Control+k", "#finder [aria-selected]")),
    State("capture", "/tasks", deed=pressed("c", "#capture[open]")),
    State(
        "capture-refused",
        "/tasks",
        deed=in_turn(
            pressed("c", "#capture[open]"),
            filled({"#capture [name=line]": "   "}, "#capture .main", "#capture .fault:not([hidden])"),
        ),
    ),
]
_PAIRING = [
    State("pair", "/devices/pair", unfolded),
    State("pair-code", "/devices/pair", clicked("[value=code]", ".secret")),
    State("pair-ended", "/devices/pair", clicked("[value=cancel]", "#words.doubt")),
    State("pair-token", "/devices/pair", clicked("[value=token]", ".qr")),
    State(
        "pair-refused",
        "/devices/pair",
        in_turn(
            clicked("[value=cancel]", "#words.doubt"),
            filled({"#secret": "no code at all"}, "[value=join]", "#join-fault"),
        ),
    ),
]
_REFUSED = [
    State("page-not-found", "/no/such/page", status=404),
    State("task-not-found", "/tasks/{nobody}", status=404),
    State("review-not-found", "/reviews/{nobody}", status=404),
    State("timeline-not-found", "/tasks/{nobody}/timeline", status=404),
    State("agent-not-found", "/agents/{nobody}", status=404),
    State("program-not-found", "/external-agents/{nobody}", status=404),
    State(
        "task-new-refused",
        "/tasks/new",
        filled({"[name=title]": "Renew the passport", "[name=due]": "some day"}, "main .main", "main .fault"),
    ),
]


def _importing(folder: Path) -> list[State]:
    return [
        State("import-failed", "/import", uploaded(folder / "photo.jpg", "#failed, .refusal")),
        State("import-shown", "/import", uploaded(folder / "TODO.md", "#shown")),
        State("import-done", "/import", clicked("#shown .main", "#imported .good")),
        State("start-with-tasks", "/start"),
        State(
            "task-added",
            "/tasks/new",
            filled({"[name=title]": "Buy stamps"}, "main .main", "#history"),
        ),
    ]
