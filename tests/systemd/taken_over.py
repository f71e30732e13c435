"""What an attacker who controls the daemon would try from inside its sandbox, printed as KEY=VALUE lines.

Only to be run by user_manager.sh, as a command of the unit itself.
"""

import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

HOME, RUNTIME = Path(os.environ["HOME"]), Path(os.environ["XDG_RUNTIME_DIR"])


def tried(name: str, attempt: Callable[[], object]) -> None:
    try:
        attempt()
        print(f"{name}=REACHED")
    except OSError as fault:
        print(f"{name}=refused ({fault})")


def connected(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as manager:
        manager.connect(str(path))


def run() -> None:
    """Start something by the user's manager, which has no sandbox."""
    script = f"id > {HOME}/escaped"
    finished = subprocess.run(
        ["systemd-run", "--user", "--collect", "--wait", "sh", "-c", script], capture_output=True, check=False
    )
    if finished.returncode:
        raise OSError(finished.stderr.decode().strip())


if __name__ == "__main__":
    sys.stdout = Path(sys.argv[1]).open("w", encoding="utf-8")  # noqa: SIM115 - open until the end
    tried("ManagerSocket", lambda: connected(RUNTIME / "systemd" / "private"))
    tried("Bus", lambda: connected(RUNTIME / "bus"))
    tried("Run", run)
    tried("ReadKey", (HOME / ".ssh" / "id_ed25519").read_text)
    tried("WriteHome", lambda: (HOME / ".bashrc").write_text("# mine now"))
    tried("WriteProgram", lambda: (HOME / ".local" / "bin" / "more").write_text("more"))
    tried("WriteRuntime", lambda: (RUNTIME / "more").write_text("more"))
    tried("ControlSocket", lambda: connected(RUNTIME / "placet" / "control.sock"))
    print(f"Escaped={(HOME / 'escaped').exists()}")
