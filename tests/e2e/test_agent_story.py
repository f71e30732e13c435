"""What a person corrected stays so, and what a task's page tells of its agent: on the installed program.

Never looks into a store: what is proposed and told, the installed command says.
"""

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest

from tests.support.devices import Device, MakeDevice, pair
from tests.support.patience import LIMIT_S, wait_until

pytestmark = pytest.mark.e2e


def _estimates(laptop: Device, task: str) -> list[Any]:
    return [item["proposed"] for item in laptop.do("pending", task) if item["tool"] == "update_task_estimate"]


def _proposed_item(laptop: Device, task: str, minutes: int) -> str:
    """Return the id of the proposal of an estimate, once it waits."""
    wait_until(f"{minutes} minutes are proposed", lambda: _estimates(laptop, task) == [minutes], LIMIT_S)
    return next(
        str(item["item_id"]) for item in laptop.do("pending", task) if item["tool"] == "update_task_estimate"
    )


def _estimate(laptop: Device, task: str) -> Any:
    return laptop.do("show", task)["estimate_minutes"]


def _wake(laptop: Device, task: str) -> None:
    """Have the agent look at the task again, and wait until its run has ended."""
    laptop.do("agent", "wake", task, "--all-notes", "--wait", "60")


@pytest.fixture
def laptop(device: MakeDevice) -> Device:
    """A device with two tasks, whose agents have proposed an hour for each."""
    running_device = device("laptop")
    for task in ("Paint", "Sweep"):
        running_device.do("add", task)
        running_device.do("note", task, "takes 1 hour")
        running_device.do("agent", "create", task)
    return running_device


def test_what_a_person_corrected_is_proposed_again_only_if_a_later_note_says_so(laptop: Device) -> None:
    laptop.do("confirm", _proposed_item(laptop, "Paint", 60))
    laptop.do("task", "edit", "Paint", "--estimate", "90")
    laptop.do("confirm", _proposed_item(laptop, "Sweep", 60), "--edit", '{"minutes": 45}')
    for task, minutes in (("Paint", 90), ("Sweep", 45)):
        laptop.do("task", "edit", task, "--priority", "p1")
        _wake(laptop, task)
        assert (_estimates(laptop, task), _estimate(laptop, task)) == ([], minutes)
        laptop.do("note", task, "takes 3 hours")
        _proposed_item(laptop, task, 180)
        assert _estimate(laptop, task) == minutes


def _page(laptop: Device, task: str) -> str:
    """Return what a person sees of a task, each of its lines parted by one space."""
    result = laptop.run("show", task)
    assert result.status == 0, result.err
    return " ".join(result.out.split())


def test_a_tasks_page_tells_of_a_sleeping_agent_and_of_a_report_that_is_older_than_a_decision(
    laptop: Device,
) -> None:
    item = _proposed_item(laptop, "Paint", 60)
    assert "its agent sleeps" not in _page(laptop, "Paint")
    assert "since" not in _page(laptop, "Paint")
    laptop.do("agent", "pause", "Paint")
    assert "its agent sleeps: it is paused; placet agent resume" in _page(laptop, "Paint")
    laptop.do("confirm", item)
    page = _page(laptop, "Paint")
    assert "its agent sleeps: it is paused" in page
    assert "Report of the agent · 1 decision since" in page
    laptop.do("agent", "resume", "Paint")
    _wake(laptop, "Paint")
    assert "since" not in _page(laptop, "Paint")
    assert "its agent sleeps" not in _page(laptop, "Paint")
    sweep, agent = laptop.do("show", "Sweep")["id"], laptop.do("agent", "show", "Sweep")["id"]
    laptop.do("task", "remove", sweep)
    assert laptop.do("agent", "show", agent)["lifecycle"] == "dormant"
    laptop.do("task", "restore", sweep)
    laptop.do("agent", "destroy", "Sweep", "--yes")
    assert "its agent was destroyed, which is final" in _page(laptop, sweep)


def test_a_report_is_brought_up_to_date_by_code_and_says_how_much_changed_since(laptop: Device) -> None:
    item = _proposed_item(laptop, "Paint", 60)
    wait_until("there is a report", lambda: laptop.do("agent", "show", "Paint")["report"], LIMIT_S)
    assert "its facts are those of now" not in _page(laptop, "Paint")
    laptop.do("agent", "pause", "Paint")
    laptop.do("confirm", item)
    assert "1 decision since · 1 change since · its facts are those of now" in _page(laptop, "Paint")
    laptop.do("task", "edit", "Paint", "--priority", "p1")
    laptop.do("note", "Paint", "The ladder is in the shed")
    laptop.stop()
    laptop.start()
    page = _page(laptop, "Paint")
    assert "1 decision since · 3 changes since · its facts are those of now" in page
    laptop.do("agent", "resume", "Paint")
    _wake(laptop, "Paint")
    assert "since" not in _page(laptop, "Paint")
    assert "its facts are those of now" not in _page(laptop, "Paint")


def test_words_from_another_device_are_read_at_the_agents_home(device: MakeDevice) -> None:
    laptop, phone = device("laptop"), device("phone")
    pair(laptop, phone)
    laptop.do("add", "Paint")
    laptop.do("agent", "create", "Paint", "--mode", "interactive")
    wait_until("the agent arrives", lambda: phone.run("agent", "show", "Paint").status == 0, LIMIT_S)
    laptop.stop()
    assert phone.do("agent", "ask", "Paint", "takes 2 hours")["wishes"] == ["takes 2 hours"]
    assert "Asked, and not read yet" in phone.run("agent", "show", "Paint").out
    laptop.start()
    wait_until("it is proposed", lambda: _estimates(phone, "Paint") == [120], LIMIT_S)
    wait_until("it is read", lambda: phone.do("agent", "show", "Paint")["wishes"] == [], LIMIT_S)
    assert "“takes 2 hours”" in phone.run("agent", "log", "Paint").out


def test_a_proposal_is_shown_with_what_the_notes_say_of_it(laptop: Device) -> None:
    _proposed_item(laptop, "Paint", 60)
    (proposal,) = laptop.do("pending", "Paint")
    assert (proposal["notes"]["verdict"], proposal["notes"]["value"]) == ("says so", None)
    assert "a note says so (" in laptop.run("pending", "Paint").out
    laptop.do("agent", "pause", "Paint")
    laptop.do("note", "Paint", "takes 3 hours")
    (proposal,) = laptop.do("pending", "Paint")
    assert (proposal["notes"]["verdict"], proposal["notes"]["value"]) == ("says other", 180)
    assert "a note says 3 h (" in laptop.run("pending", "Paint").out


class _Nonsense(BaseHTTPRequestHandler):
    """A model's server that answers each question with what is no answer."""

    def do_POST(self) -> None:
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002
        """Print nothing."""


@pytest.fixture
def nonsense_url() -> Iterator[str]:
    """Return the address of a server that never answers as a model does."""
    with ThreadingHTTPServer(("127.0.0.1", 0), _Nonsense) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/v1"
        server.shutdown()
        thread.join()


def test_a_page_says_why_an_agent_sleeps_that_failed_five_times_and_how_it_works_again(
    device: MakeDevice, nonsense_url: str
) -> None:
    laptop = device("laptop")
    laptop.stop()
    remote = {"KIND": "openai", "BASE_URL": nonsense_url, "NAME": "m", "MODE": "actions"}
    laptop.settings |= {f"PLACET_MODEL_{name}": value for name, value in remote.items()}
    laptop.start()
    laptop.do("add", "Paint")
    laptop.do("agent", "create", "Paint")
    for _ in range(5):
        laptop.run("agent", "wake", "Paint", "--wait", "20")
    shown = " ".join(laptop.run("show", "Paint").out.split())
    assert "its agent sleeps: it failed 5 times in a row: the model could not answer:" in shown
    # The page names the command that a person types.
    command = shown.rpartition("; placet ")[2].split()[:3]
    assert command[:2] == ["agent", "resume"]
    assert laptop.do("agent", "show", "Paint")["lifecycle"] == "dormant"
    laptop.do(*command)
    assert "its agent sleeps" not in laptop.run("show", "Paint").out
