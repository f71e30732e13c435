"""Connections that lose packets, delay them or are slow: everything arrives, and links stay open."""

from pathlib import Path

import pytest

from tests.support.networks.residents import World, pair_by_code, wait_for_equal_state, wait_until_with_logs

pytestmark = [pytest.mark.e2e, pytest.mark.slow]

SEED = 7
NARROW_BYTES_PER_S = 40 * 1024.0
HALF_COMMITS = 4
"""Of the eight that the long list is imported by. Each is a page, and takes seconds."""
FAR = {"loss": 0.08, "delay_s": 0.15}
VERY_NARROW_BYTES_PER_S = 16 * 1024.0
NOTES = 20
NOTE_CHARS = 24_000


def test_all_arrives_over_lines_that_lose_delay_and_are_narrow(world: World, tmp_path: Path):
    segment = world.networks.segment("lan")
    wire = world.networks.wire(SEED, **FAR)
    desk, phone = world.at(segment, "desk", "10.77.0.1/24"), world.device("phone")
    phone.machine.plug_badly(segment, wire, "10.77.0.2/24")
    world.start(desk, phone)

    # Losing one frame in twelve each way, a third of a second away: pairing takes longer, and works.
    code = desk.do("pair")["code"]
    wait_until_with_logs("the code works", lambda: phone.run("join", typed=code).status == 0, desk, phone)
    for number in range(10):
        (desk, phone)[number % 2].do("add", f"over a line that loses, {number}")
    wait_for_equal_state(desk, phone)

    # Narrow: what is sent waits in the router for seconds, and a page takes longer than a sign of life may.
    phone.do("sync", "--pause")
    listed = tmp_path / "long.md"
    listed.write_text("".join(f"- [ ] item {number} of a long list, {number**3}\n" for number in range(4000)))
    desk.do("import", "markdown", str(listed))
    wire.become(bytes_per_s=NARROW_BYTES_PER_S, delay_s=0.05)
    phone.do("sync", "--resume")
    wait_until_with_logs("half is there", lambda: desk.sees(phone)["lag"] <= HALF_COMMITS, desk, phone)
    # The links are doubted on both sides, and what answers waits behind a page of many seconds.
    phone.machine.plugs[0].add("10.77.0.102/24")
    wait_for_equal_state(desk, phone)
    for device in (desk, phone):
        assert "no sign of life" not in device.log()
        assert "next to nothing was heard" not in device.log()


def test_what_is_written_at_the_end_of_a_very_narrow_line_is_soon_known_to_have_arrived(world: World):
    """The answer of the other device waits behind what that has to send, and no longer than a moment."""
    segment = world.networks.segment("lan")
    wire = world.networks.wire(SEED, loss=0.0, delay_s=0.02)
    desk, phone = world.at(segment, "desk", "10.77.0.1/24"), world.device("phone")
    phone.machine.plug_badly(segment, wire, "10.77.0.2/24")
    world.start(desk, phone)
    pair_by_code(desk, phone)
    wait_for_equal_state(desk, phone)
    phone.do("sync", "--pause")
    task = desk.do("add", "What was said, in full")["id"]
    for number in range(NOTES):
        desk.do("note", task, f"{number} " + "said " * (NOTE_CHARS // 5))
    wire.become(bytes_per_s=VERY_NARROW_BYTES_PER_S, delay_s=0.02)
    phone.do("sync", "--resume")
    # What the line is tried with is through, and its rate known.
    wait_until_with_logs("some is there", lambda: desk.sees(phone)["lag"] <= NOTES - 6, desk, phone)
    phone.do("add", "Written meanwhile")
    wait_until_with_logs("the phone knows of it there", lambda: not phone.sees(desk)["lag"], desk, phone)
    assert desk.holds("Written meanwhile")
    assert desk.sees(phone)["lag"], "the notes are not all there: the line was full all the time"
    wire.become(delay_s=0.02)
    wait_for_equal_state(desk, phone)
