"""The soak of `make soak`, cut short: five devices on two networks, with three mailboxes between them."""

from pathlib import Path

import pytest

from bench.soak import soak

pytestmark = [pytest.mark.e2e, pytest.mark.slow, pytest.mark.root, pytest.mark.network]


@pytest.mark.external("nats-server")
def test_five_devices_end_in_one_state_with_mailboxes_in_place_of_six_links(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status = soak(tmp_path, 0.3, 1, apart=True)
    printed = capsys.readouterr().out
    assert status == 0, printed
    assert "links: 4 of 10" in printed
