"""What bounds programs that were made for it, and what faster storage would save, beside what memory then does.

The slow storage is a file system that answers each call late; the fast one is memory. Both are targets of one run, so
that what is predicted on the one is compared with what the other took.
"""

import socket
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml
from faulty import faulty_mount, needs_faults
from run_tools import assay, needs_engine, only_run

from assay.analyse.programs.results import ProgramResult, command_result
from assay.run.analysis import load_analysis

pytestmark = [needs_engine, needs_faults]

LATE_MS = 10
PIECE = 64 << 10

MIXED = """
for _ in range(20):
    x = sum(i * i for i in range(900_000))
    open("a", "w").close()
"""
CACHED_READER = """
import time
end = time.monotonic() + 0.8
while time.monotonic() < end:
    open("/proc/self/exe", "rb").read()
"""
PIPELINE = "for i in range(100): print(sum(j * j for j in range(300_000)))"
RECEIVE = """
import socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
while connection.recv(65536):
    pass
"""
WRITES = "dd if=/dev/zero of=out bs=4k count=60 oflag=sync 2>/dev/null"
JOB = (
    "[ $(($0 % 2)) = 1 ] && sleep 0.15; dd if=/dev/zero of=out$0 bs=4k count=30 oflag=sync 2>/dev/null; "
    "[ $(($0 % 2)) = 1 ] || sleep 0.15"
)
"""Of two of these at once, one writes while the other sleeps."""
COMPUTE = "x = sum(i * i for i in range({}))"


def programs(port: int) -> dict[str, tuple[str, dict[str, object]]]:
    """Name -> what bounds it on the slow storage, and the command."""
    return {
        "sleep": ("waiting", {"run": ["sleep", 1]}),
        "compute": ("compute", {"run": ["python3", "-c", COMPUTE.format(9_000_000)]}),
        "fsync_loop": ("storage", {"run": {"shell": WRITES}}),
        "cold_reader": (
            "storage",
            {
                "prepare": ["dd", "if=/dev/zero", "of=data", "bs=1M", "count=6"],
                "run": ["dd", "if=$inputs/data", "of=/dev/null", "bs=64k"],
            },
        ),
        "cached_reader": (
            "compute",
            {"cache": "keep", "run": ["python3", "-c", CACHED_READER]},
        ),
        "small_files": ("storage", {"run": {"shell": "for i in $(seq 25); do echo x >f$i; done"}}),
        "from_network": ("network", {"run": ["python3", "-c", RECEIVE, port]}),
        "mixed": ("compute", {"run": ["python3", "-c", MIXED]}),
        "hidden_writes": (
            "compute",
            {"run": {"shell": f"{WRITES} & python3 -c '{COMPUTE.format(15_000_000)}'; wait"}},
        ),
        "lock": ("waiting", {"run": {"shell": "flock lock sleep 1 & sleep 0.2; flock lock true; wait"}}),
        "writes_beside_a_sleep": ("waiting", {"run": {"shell": f"sleep 2 & {WRITES}; wait"}}),
        "jobs_in_parallel": ("storage", {"run": {"shell": f"seq 6 | xargs -P 2 -n 1 sh -c '{JOB}'"}}),
        "pipeline": ("compute", {"run": {"shell": f"python3 -c '{PIPELINE}' | sort >out"}}),
    }


NAMES = list(programs(0))


@pytest.fixture(scope="module")
def port() -> Iterator[int]:
    """A server that sends a megabyte in small pieces, slowly, to whoever connects."""
    server = socket.create_server(("127.0.0.1", 0))

    def serve(client: socket.socket) -> None:
        with client:
            for _ in range(50):
                time.sleep(0.02)
                client.sendall(b"x" * PIECE)

    def accept() -> None:
        while True:
            try:
                client, _ = server.accept()
            except OSError:
                return
            threading.Thread(target=serve, args=(client,), daemon=True).start()

    threading.Thread(target=accept, daemon=True).start()
    yield server.getsockname()[1]
    server.close()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory, port: int) -> Iterator[dict[tuple[str, str], ProgramResult]]:
    """(command, target) -> result of one run of all."""
    folder = tmp_path_factory.mktemp("bounds")
    with faulty_mount(folder) as slow:
        slow.set(f"latency on open,create,read,write,fsync delay {LATE_MS}")
        memory = Path("/dev/shm") / f"assay-bounds-{port}"
        places = {"slow": f"{slow.path}/t", "memory": str(memory)}
        study = {
            "study": "bounds",
            "targets": {name: {"kind": "file", "path": path} for name, path in places.items()},
            "commands": {name: command for name, (_, command) in programs(port).items()},
            "repeats": 3,
            "ceilings": "none",
        }
        (folder / "study.yaml").write_text(yaml.safe_dump(study, sort_keys=False))
        assay(folder, "run", "study.yaml")
        analysis = load_analysis(str(only_run(folder)), folder)
        yield {(row.case.workload, row.case.target): found for row in analysis.rows if (found := command_result(row))}
        assert not memory.exists()


@pytest.mark.parametrize("name", NAMES)
def test_what_bounds_a_program_is_found(results: dict[tuple[str, str], ProgramResult], name: str) -> None:
    bound = results[name, "slow"].bound
    assert bound is not None and bound.kind == programs(0)[name][0], bound


@pytest.mark.parametrize("name", NAMES)
def test_what_faster_storage_saves_is_what_was_predicted(
    results: dict[tuple[str, str], ProgramResult], name: str
) -> None:
    slow, fast = results[name, "slow"], results[name, "memory"]
    assert slow.bound is not None
    saved = 1 - fast.wall_s.median / slow.wall_s.median
    assert abs(saved - slow.bound.saving) <= 0.15, (saved, slow.bound)
