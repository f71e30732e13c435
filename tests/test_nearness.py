"""Tests of what changed begin first: imports are followed from what changed to who imports it.

Never asks git what changed here.
"""

import subprocess
from pathlib import Path

from tests.support.nearness import changed_files, distances, imported_names

TEXTS = {
    Path("store/log.py"): "import apsw\n",
    Path("store/fold/state.py"): "from store import log\n",
    Path("daemon/app.py"): "from store.fold.state import (\n    fold,  # of all\n    unfold as u,\n)\n",
    Path("daemon/other.py"): "",
    Path("tests/store/test_log.py"): "import pytest\n",
    Path("tests/daemon/test_app.py"): "def f():\n    import daemon.app\n",
    Path("tests/daemon/test_other.py"): "from daemon.other import x\n",
}


def near(*changed: str) -> dict[str, int]:
    return {str(path): far for path, far in distances(TEXTS, map(Path, changed)).items()}


def test_the_forms_of_an_import_are_read():
    text = (
        "from a.b import c, d as e\nimport f.g\n    from h import (\n        i,\n        j,  # why\n    )\n"
    )
    assert {"a.b", "a.b.c", "a.b.d", "f.g", "h", "h.i", "h.j"} <= imported_names(text)


def test_who_imports_what_changed_is_near_and_who_does_not_is_not_reached():
    assert near("store/log.py") == {
        "store/log.py": 0,
        "store/fold/state.py": 1,
        "tests/store/test_log.py": 1,
        "daemon/app.py": 2,
        "tests/daemon/test_app.py": 3,
    }


def test_what_is_no_module_concerns_the_modules_of_its_folder():
    assert near("daemon/page.html").keys() == {
        *("daemon/app.py", "daemon/other.py", "tests/daemon/test_app.py", "tests/daemon/test_other.py")
    }
    assert near("tests/daemon/conftest.py").keys() == {
        "tests/daemon/test_app.py",
        "tests/daemon/test_other.py",
    }
    assert near("README.md") == {}


def test_what_changed_is_what_the_branch_and_the_working_tree_did(tmp_path: Path):
    def git(*words: str) -> None:
        subprocess.run(
            ["git", "-c", "user.name=a", "-c", "user.email=a@b", *words],
            cwd=tmp_path,
            check=True,
            capture_output=True,
        )

    assert changed_files(tmp_path) == []
    git("init", "-q")
    for number, name in enumerate(("old", "branch")):
        (tmp_path / name).write_text("1")
        git("add", name)
        git("commit", "-qm", name)
        if not number:
            git("update-ref", "refs/remotes/origin/main", "HEAD")
    (tmp_path / "old").write_text("2")
    (tmp_path / "new").write_text("3")
    assert changed_files(tmp_path) == [Path("branch"), Path("new"), Path("old")]
