"""The threat model of docs/reference/security.md, tested by attacks."""

import contextlib
import json
import random
import socket
import stat
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from boxes import Running, switch_file
from hitless.errors import HitlessError
from hitless.live import check_live, replay
from hitless.service.privileges import OF_FORWARDING, OF_LABS
from labs import RUN_FOLDER, chain
from traffic import send

TRIES = """
import ctypes, errno, json, os, socket, sys
sys.path[:0] = json.loads(sys.argv[1])
from hitless.service.privileges import OF_FORWARDING, drop_all_but

libc = ctypes.CDLL(None, use_errno=True)

def called(name, *arguments):
    if getattr(libc, name)(*arguments) != 0:
        raise OSError(ctypes.get_errno(), name)

def packet_socket():
    socket.socket(socket.AF_PACKET, socket.SOCK_RAW).close()

tries = {
    "open a packet socket": packet_socket,
    "mount": lambda: called("mount", b"none", b"/mnt", b"tmpfs", 0, None),
    "enter a namespace": lambda: called("unshare", 0x40000000),
    "change its user": lambda: os.setuid(12345),
    "change its root": lambda: os.chroot("/tmp"),
    "make a device": lambda: os.mknod("/tmp/hitless-device", 0o600 | 0o020000, os.makedev(1, 1)),
    "load a module": lambda: called("syscall", 175, None, 0, b""),
    "set the clock": lambda: called("syscall", 227, 0, (ctypes.c_long * 2)(0, 0)),
    "read what its mode forbids": lambda: os.close(os.open(sys.argv[2], os.O_RDONLY)),
    "give a file away": lambda: os.chown(sys.argv[3], 12345, 12345),
    "be another's debugger": lambda: called("ptrace", 16, 1, None, None),
    "restart the machine's name": lambda: called("sethostname", b"hitless", 7),
}
drop_all_but(OF_FORWARDING)
found = {}
for name, attempt in tries.items():
    try:
        attempt()
        found[name] = "done"
    except OSError as refused:
        found[name] = errno.errorcode[refused.errno]
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as here:
    found["kept"] = open("/proc/self/status").read().split("CapEff:")[1].split()[0]
print(json.dumps(found))
"""
BITS = {"CAP_NET_ADMIN": 12, "CAP_SYS_NICE": 23, "CAP_SYS_ADMIN": 21, "CAP_KILL": 5, "CAP_SYS_PTRACE": 19}
BITS["CAP_DAC_OVERRIDE"] = 1


def mask(names):
    return sum(1 << BITS[name] for name in names)


FORWARDING_NICE = -15


def capabilities(pid):
    """Return the capabilities of a process's main thread, and of its forwarding thread, found by its priority."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        with contextlib.suppress(FileNotFoundError):
            nice = int((task / "stat").read_text().rpartition(")")[2].split()[16])
            if int(task.name) == pid or nice == FORWARDING_NICE:
                lines = dict(line.split(":", 1) for line in (task / "status").read_text().splitlines())
                names = ("CapEff", "CapPrm", "CapBnd", "CapAmb")
                found.append((*(int(lines[name], 16) for name in names), lines["NoNewPrivs"].strip()))
    return found


def require_no_more_than(kept, pid):
    found = capabilities(pid)
    assert len(found) == 2, "the thread that forwards was not found"
    for effective, permitted, bounding, ambient, is_closed in found:
        assert (effective | permitted | bounding) & ~mask(kept) == 0
        assert (ambient, is_closed) == (0, "1")


def test_what_forwards_cannot_do_what_it_need_not_do_even_as_root(permitted, tmp_path):
    """Each attempt succeeds beforehand, as root, so the refusals come from the dropped capabilities."""
    closed = tmp_path / "closed"
    closed.write_text("")
    closed.chmod(0)
    paths = json.dumps([path for path in sys.path if path])
    done = subprocess.run(
        ["unshare", "--mount", "--net", "--uts", sys.executable, "-c", TRIES, paths, closed, tmp_path / "closed"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert int(found.pop("kept"), 16) & ~mask(OF_FORWARDING) == 0
    # The owner of a file of mode 0 can only open it with CAP_DAC_OVERRIDE.
    assert found.pop("load a module") in {"EPERM", "ENOSYS"}, "ENOSYS: a kernel without modules"
    assert set(found.values()) <= {"EPERM", "EACCES"}, found
    assert len(found) == 11


def test_a_lab_and_a_switch_run_with_what_they_need_and_no_more(lab, boxes, tmp_path):
    lab.up(chain(tmp_path))
    require_no_more_than(OF_LABS, lab.pid())
    boxes.one_box()
    switch = Running(boxes, tmp_path, "box", "switch", switch_file(tmp_path))
    switch.wait_for("h2 is behind port2")
    require_no_more_than(OF_FORWARDING, switch.process.pid)
    assert switch.end() == 0, switch.log.read_text()


def test_nobody_else_reads_or_writes_what_a_lab_keeps(lab, tmp_path):
    lab.up(chain(tmp_path))
    folder = RUN_FOLDER / lab.name
    assert stat.S_IMODE(RUN_FOLDER.stat().st_mode) == 0o700
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
    assert stat.S_IMODE((folder / "control").stat().st_mode) == 0o600
    assert stat.S_IMODE((RUN_FOLDER / f"{lab.name}.lock").stat().st_mode) == 0o600
    words = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "--inh-caps=-all"]
    for path in (folder / "control", folder / "lab.json", RUN_FOLDER / f"{lab.name}.log"):
        done = subprocess.run([*words, "cat", path], capture_output=True, text=True, check=False)
        assert "Permission denied" in done.stderr, path


def test_silent_and_endless_clients_of_the_control_socket_keep_nobody_out(lab, tmp_path):
    lab.up(chain(tmp_path))
    path = str(RUN_FOLDER / lab.name / "control")
    silent = [socket.socket(socket.AF_UNIX) for _ in range(4)]
    try:
        for one in silent:
            one.connect(path)

        def pour():
            with socket.socket(socket.AF_UNIX) as one, contextlib.suppress(OSError):
                one.connect(path)
                while True:
                    one.sendall(b"x" * 65_536)

        threads = [threading.Thread(target=pour) for _ in range(2)]
        for thread in threads:
            thread.start()
        for request in (b'{"command":"fail","link":"\\u0000"}\n', b"[" * 4_000 + b"\n", b'{"command":"corrupt"}\n'):
            with socket.socket(socket.AF_UNIX) as one:
                one.settimeout(60)
                one.connect(path)
                one.sendall(request)
                assert not json.loads(one.makefile().readline())["ok"]
        assert lab.status()["frames_inside"] == 0
        for thread in threads:
            thread.join(timeout=300)
    finally:
        for one in silent:
            one.close()


def test_a_client_that_sends_a_byte_now_and_then_costs_a_lab_no_results(lab, tmp_path):
    lab.up(chain(tmp_path))
    with socket.socket(socket.AF_UNIX) as slow:
        slow.connect(str(RUN_FOLDER / lab.name / "control"))

        def trickle():
            with contextlib.suppress(OSError):
                while True:
                    slow.sendall(b"x")
                    time.sleep(1.5)

        thread = threading.Thread(target=trickle)
        thread.start()
        assert json.loads(lab.down("--json").stdout)["frames_inside"] == 0
        thread.join(timeout=300)


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "a = " + "[" * 5_000 + "]" * 5_000,
        'name = "x"\n' * 2,
        "seed = 99999999999999999999999999",
        'name = "\\u0000"',
        "a." * 20_000 + "b = 1",
        '[topology]\nkind = "graph"\nhosts = ["../../etc"]\nswitches = ["a"]\nlinks = []\n',
        '[topology]\nkind = "leaf-spine"\nleaves = 4294967295\nspines = 4294967295\nhosts_per_leaf = 4294967295\n',
    ],
    ids=lambda text: text[:24],
)
def test_a_hostile_scenario_is_refused_in_words(text):
    with pytest.raises(HitlessError):
        check_live(text, "hostile.toml")


def test_a_recording_that_was_tampered_with_is_refused_or_diverges_and_never_ends_the_process(lab, tmp_path):
    recording = tmp_path / "lab.recording"
    lab.up(chain(tmp_path), "--record", recording)
    send(lab, "10.0.0.2", 20)
    lab.down()
    whole = recording.read_bytes()
    assert replay(recording).divergence is None
    moments = random.Random(7)  # noqa: S311 - the same bytes each time
    refused = 0
    for turn in range(150):
        bytes_ = bytearray(whole)
        for _ in range(1 + turn % 3):
            bytes_[moments.randrange(len(bytes_))] = moments.randrange(256)
        recording.write_bytes(bytes_[: moments.randrange(len(bytes_))] if turn % 4 == 0 else bytes_)
        try:
            replay(recording)
        except HitlessError:
            refused += 1
    assert refused > 10
