"""How devices are named: two of one name are told apart, and what is shown can be typed."""

from typing import Any

from daemon.words.devices import named_with_id, names_apart, split_name, unique_names

DESK, LAPTOP, OTHER = "3f2a" + "0" * 60, "3f2b" + "0" * 60, "99" + "0" * 62


def test_only_devices_of_one_name_get_the_beginning_of_their_id():
    names = {DESK: "laptop", LAPTOP: "laptop", OTHER: "Laptop"}
    assert names_apart(names) == {DESK: "laptop (3f2a)", LAPTOP: "laptop (3f2b)", OTHER: "Laptop"}


def test_ids_are_as_long_as_they_need_to_be():
    near = "3f2a9" + "0" * 59
    assert list(names_apart({DESK: "x", near: "x"}).values()) == ["x (3f2a0)", "x (3f2a9)"]


def test_a_name_that_hides_something_is_shown_with_it():
    devices: list[Any] = [{"device_id": DESK, "name": "\u202ex"}, {"device_id": LAPTOP}]
    assert unique_names(devices) == {DESK: "\\u202ex", LAPTOP: "?"}


def test_what_is_shown_names_the_device():
    assert split_name(named_with_id("Ana's (old) laptop", "3f2a")) == ("Ana's (old) laptop", "3f2a")


def test_other_brackets_are_part_of_a_name():
    for name in ("laptop (old)", "laptop (3f)", "(3f2a)"):
        assert split_name(name) == (name, "")
