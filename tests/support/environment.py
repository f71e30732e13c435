"""What the tests take over from the environment they are run in, and what they forget.

Never lets a person's own Placet settings, model key or proxy reach a test or a program that it starts.
"""

import os
import sys


def in_ci() -> bool:
    """Report whether this is a run in which nothing may be left out."""
    return os.environ.get("CI", "").lower() in {"1", "true", "yes"}


def forget_settings() -> None:
    """Take the settings of whoever runs the tests out of this process's environment."""
    for name in list(os.environ):
        if name.startswith(("PLACET_", "OPENAI_")) or name.lower().endswith("_proxy"):
            del os.environ[name]


def keep_compiled() -> None:
    """Let this process, and each command that a test starts, keep what Python compiled for the next one.

    Images of containers often forbid it. Each of a thousand commands would then compile Placet anew, and
    that takes five times as long as the command itself.
    """
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    sys.dont_write_bytecode = False
