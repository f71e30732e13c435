"""`placet metrics`.

Never counts anything itself.
"""

from tests.daemon.cli.fake_control import FakeControl
from tests.support.commands import Placet

TEXT = """# HELP placet_commits Held.
# TYPE placet_commits gauge
placet_commits 3
placet_peer_lag{device="a b"} 0.5
"""


def test_metrics_are_printed_as_they_came_and_as_json(placet: Placet, control: FakeControl):
    control.says("GET /metrics", TEXT.encode())
    assert placet("metrics").out == TEXT
    assert placet("metrics", "--json").json == {"placet_commits": 3, 'placet_peer_lag{device="a b"}': 0.5}
    assert placet("metrics", "--plain").out == 'placet_commits\t3.0\nplacet_peer_lag{device="a b"}\t0.5\n'
