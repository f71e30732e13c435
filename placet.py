"""The command `placet`: starts it, or says which package of somebody else stands where one of ours should.

Never goes on with a package that is not ours: `python-daemon`, for one, owns a package `daemon` too.
"""

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import NoReturn

_DISTRIBUTION = "placet"
_PACKAGES = ("daemon", "store", "syncproto")


def main() -> "NoReturn":
    """Run the command line of this process, and leave."""
    for package in _PACKAGES:
        if not _is_ours(package):
            sys.exit("\n".join(f"placet: {line}" for line in _explanation(package)))
    from daemon.cli import main as command_line

    command_line.main()


def _is_ours(package: str) -> bool:
    try:
        return getattr(__import__(package), "DISTRIBUTION", None) == _DISTRIBUTION
    except Exception:  # noqa: BLE001 - ours import nothing, so what fails is somebody else's, or gone
        return False


def _explanation(package: str) -> list[str]:
    """Return what is in the way of a package, and what to do; in the language of the environment."""
    import gettext
    import os
    from importlib.util import find_spec
    from pathlib import Path

    here = Path(__file__).absolute().parent
    _ = gettext.translation("placet", here / "daemon" / "locale", fallback=True).gettext
    remedy = _("install placet anew, in an environment of its own: by pipx, or by python -m venv")
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        path = here / package / "__init__.py"
        lost = _("placet's package {name} has lost its file {path}")
        return [lost.format(name=package, path=repr(str(path))), remedy]
    path = Path(spec.origin)
    lines = [_("the package {name} at {path} is not placet's").format(name=package, path=repr(str(path)))]
    lines += [_("it belongs to {name}").format(name=name) for name in _owners(path)]
    for folder in filter(None, os.environ.get("PYTHONPATH", "").split(os.pathsep)):
        if Path(folder).absolute() in path.parents:
            remedy = _("PYTHONPATH names the folder {path}: start placet without it").format(
                path=repr(folder)
            )
    return [*lines, remedy]


def _owners(path: "Path") -> list[str]:
    """Return the names of the distributions besides ours that installed a file."""
    from importlib.metadata import distributions

    return sorted(
        {
            distribution.name
            for distribution in distributions()
            if distribution.name != _DISTRIBUTION
            and any(str(distribution.locate_file(file)) == str(path) for file in distribution.files or ())
        }
    )
