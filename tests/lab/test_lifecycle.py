"""A lab comes up, answers requests, and disappears completely, whatever ends it."""

import contextlib
import json
import os
import random
import signal
import subprocess
import time
from pathlib import Path

import pytest

from labs import RUN_FOLDER, Lab, chain, crashing, processes_of
from traffic import ECHO
from waiting import wait_until
from warm import PROGRAM, hitless


@pytest.fixture
def reach(lab):
    """Does a datagram get from one host to another and back?"""
    servers = []

    def reached(to="10.0.0.2", size=100, of=lab, patience_s=5):
        server = of.start("h2", "python3", "-c", ECHO, "serve")
        servers.append(server)
        wait_until(lambda: of.run("h2", "ss", "--udp", "--listening", "--no-header", "sport = :7").stdout)
        assert of.run("h1", "python3", "-c", ECHO, "ask", to, size, 3, patience_s).stdout == "3\n"
        server.kill()
        server.wait()

    yield reached
    for server in servers:
        server.kill()
        server.wait()


def test_it_comes_up_carries_frames_and_goes(lab, tmp_path, reach):
    done = lab.up(chain(tmp_path))
    assert "10.0.0.2" in done.stdout
    assert "hitless lab exec" in done.stderr
    reach()
    reach(size=1472)
    status = lab.status()
    links = {link["link"]: link for link in status["links"]}
    assert links["sw1->sw2"]["frames_arrived"] >= 6
    assert status["frames_inside"] == 0
    shown = lab.tell("status").stdout
    assert "sw1->sw2" in shown
    assert "deadlines missed" in shown
    assert lab.name in hitless("lab", "list").stdout
    lab.down()
    assert lab.left_behind() == []


def test_a_host_is_found_without_its_neighbour_entry(lab, tmp_path, reach):
    """ARP requests are broadcasts, and the fabric floods them."""
    lab.up(chain(tmp_path))
    for host, other in (("h1", "10.0.0.2"), ("h2", "10.0.0.1")):
        lab.run(host, "ip", "neigh", "delete", other, "dev", "eth0")
    reach()
    learnt = json.loads(lab.run("h1", "ip", "-json", "neigh", "show", "10.0.0.2").stdout)
    assert learnt[0]["lladdr"] == "02:00:0a:00:00:02"
    assert "PERMANENT" not in learnt[0]["state"]


def test_exec_hands_on_input_output_and_the_exit_code(lab, tmp_path):
    lab.up(chain(tmp_path))
    done = hitless("lab", "exec", "--name", lab.name, "h1", "--", "sh", "-c", "cat; exit 7", input="said", code=7)
    assert done.stdout == "said"
    done = hitless("lab", "exec", "--name", lab.name, "h1", "getent", "hosts", "h2")
    assert done.stdout.split() == ["10.0.0.2", "h2"]
    done = hitless("lab", "exec", "--name", lab.name, "h1", "--", "no-such-program", code=127)
    done = hitless("lab", "exec", "--name", lab.name, "sw1", "--", "true", code=2)
    assert "sw1 is a switch" in done.stderr


def test_hosts_have_no_offloads_and_no_ipv6(lab, tmp_path):
    lab.up(chain(tmp_path))
    assert lab.run("h1", "ip", "-6", "addr").stdout == ""
    shown = lab.run("h1", "ip", "-d", "link", "show", "eth0").stdout
    assert "mtu 1500" in shown
    code = "from hitless.live import NetworkInterface as I; print(I('eth0').switch_off_offloads())"
    python = PROGRAM.with_name("python")
    assert lab.run("h1", python, "-c", code).stdout.startswith("([],"), "one was still on"


def test_links_fail_and_are_repaired(lab, tmp_path, reach):
    lab.up(chain(tmp_path))
    lab.tell("fail", "sw1<->sw2")
    with pytest.raises(AssertionError):
        reach(patience_s=1)
    lab.tell("repair", "sw1<->sw2")
    reach()
    lab.tell("corrupt", "sw1->sw2", 1)
    with pytest.raises(AssertionError):
        reach(patience_s=1)
    lab.tell("corrupt", "sw1->sw2", 0)
    reach()
    lost = {link["link"]: (link["frames_lost_down"], link["frames_corrupted"]) for link in lab.status()["links"]}
    assert lost["sw1->sw2"][0] > 0
    assert lost["sw1->sw2"][1] > 0


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fail", "sw1->sw3"], "did you mean sw1->sw2?"),
        (["protect", "sw1->sw2"], "no protection that can be switched on is configured on 'sw1->sw2'"),
        (["corrupt", "sw1->sw2", "2"], "2.0 is not in the range 0.0<=x<=1.0"),
        (["exec", "h3", "true"], "its hosts: h1, h2"),
        (["exec", "h1"], "which program?"),
    ],
)
def test_what_is_typed_wrong_is_told(shared_lab, words, told):
    done = hitless("lab", words[0], "--name", shared_lab.name, *words[1:], code=None)
    assert done.returncode in {1, 2}, done
    assert told in " ".join(done.stderr.split()), done


@pytest.fixture(scope="module")
def shared_lab(permitted, tmp_path_factory):
    lab = Lab(f"shared{os.getpid()}")
    lab.up(chain(tmp_path_factory.mktemp("shared")))
    yield lab
    lab.clear()


@pytest.mark.parametrize(
    ("name", "told"), [("no-such-lab", "no lab no-such-lab is up"), ("sharedd", "did you mean shared")]
)
def test_a_lab_that_is_not_up_is_told(shared_lab, name, told):
    for words in (["status"], ["exec", "h1", "true"], ["down"], ["fail", "a->b"]):
        done = hitless("lab", words[0], "--name", name, *words[1:], code=2)
        assert told in done.stderr


def test_two_labs_at_once_do_not_meet(make_lab, tmp_path, reach):
    first, second = make_lab(), make_lab()
    first.up(chain(tmp_path))
    second.up(chain(tmp_path))
    reach(of=first)
    reach(of=second)
    first.down()
    assert first.left_behind() == []
    reach(of=second)


def test_a_name_is_one_labs_only(lab, tmp_path):
    file = chain(tmp_path)
    lab.up(file)
    refused = lab.up(file, code=1)
    assert f"the lab {lab.name} is up" in refused.stderr
    assert lab.status()["frames_inside"] == 0


def test_of_two_that_start_at_once_one_is_refused(lab, tmp_path):
    file = chain(tmp_path)
    both = [lab.starting(file, stderr=subprocess.PIPE, text=True) for _ in range(2)]
    said = [each.communicate(timeout=120)[1] for each in both]
    assert sorted(each.returncode for each in both) == [0, 1], said
    lab.down()
    assert lab.left_behind() == []


def test_programs_in_hosts_end_with_the_lab(lab, tmp_path):
    lab.up(chain(tmp_path))
    stubborn = lab.start("h1", "sh", "-c", "trap '' TERM; while :; do sleep 1; done")
    time.sleep(0.3)
    lab.down()
    assert stubborn.wait(timeout=300) == -signal.SIGKILL
    assert lab.left_behind() == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_in_the_foreground_a_signal_ends_it(lab, tmp_path, number):
    log = tmp_path / "log"
    with log.open("wb") as file:
        process = lab.starting(chain(tmp_path), "--foreground", stdout=file, stderr=file)
    wait_until(lambda: "Ctrl-C ends the lab" in log.read_text() or process.poll() is not None)
    process.send_signal(number)
    assert process.wait(timeout=300) == 0, log.read_text()
    assert "is down and removed" in log.read_text()
    assert lab.left_behind() == []


@pytest.mark.parametrize("delay_s", [0.2, 0.4, 0.5, 0.6, 0.8, 1.1, 1.4])
def test_ctrl_c_while_it_comes_up_leaves_nothing(lab, tmp_path, delay_s):
    process = lab.starting(chain(tmp_path))
    time.sleep(delay_s)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=300)
    if code == 0:
        lab.down()
    wait_until(lambda: not lab.left_behind())


def test_ctrl_c_when_it_is_up_leaves_it_and_says_so(lab, tmp_path):
    """Its exit code tells whether it is up, at any moment of Ctrl-C."""
    process = lab.starting(chain(tmp_path), stdout=subprocess.PIPE)
    said = os.read(process.stdout.fileno(), 65_536)  # the table of its hosts, printed when it is up
    process.send_signal(signal.SIGINT)
    said += process.communicate(timeout=300)[0]
    assert process.returncode == 0
    assert b"h2" in said
    lab.down()
    wait_until(lambda: not lab.left_behind())


def test_killed_at_twenty_moments_it_comes_up_again_and_leaves_nothing(lab, tmp_path, reach):
    """It is killed while it comes up, while frames cross it, and while it goes down."""
    file = chain(tmp_path)
    seed = random.SystemRandom().randrange(2**32)
    moments = random.Random(seed)  # noqa: S311 - it is printed, to be repeated
    print(f"the moments are those of seed {seed}")
    for _ in range(20):
        starting = lab.starting(file)
        until = time.monotonic() + moments.uniform(0.3, 2.5)
        while time.monotonic() < until and not (RUN_FOLDER / lab.name / "lab.json").exists():
            time.sleep(0.005)
        time.sleep(moments.uniform(0.0, 0.6))
        kill_all_of(lab)
        starting.wait(timeout=300)
    # The last one may have started later, and be up.
    kill_all_of(lab)
    lab.up(file)
    reach()
    lab.down()
    assert lab.left_behind() == []


def kill_all_of(lab):
    """Kill them all, including children started between the listing and the kill."""

    def are_gone():
        for word in processes_of(lab.name):
            with contextlib.suppress(ProcessLookupError):
                os.kill(int(word.split()[1]), signal.SIGKILL)
        return not processes_of(lab.name)

    wait_until(are_gone)


def test_down_removes_what_a_killed_lab_left(lab, tmp_path):
    lab.up(chain(tmp_path))
    lab.kill()
    assert "its process is gone" in " ".join(hitless("lab", "list").stdout.split())
    refused = lab.tell("status", code=2)
    assert f"hitless lab down --name {lab.name}" in refused.stderr
    done = lab.down()
    assert "its remains are removed" in done.stderr
    assert f"the end of {RUN_FOLDER / lab.name}.log" in done.stderr
    assert lab.left_behind() == []


def test_a_namespace_that_is_not_ours_is_left_alone(lab, tmp_path):
    other = f"hitless.{lab.name}.h2"
    subprocess.run(["ip", "netns", "add", other], check=True)
    try:
        refused = lab.up(chain(tmp_path), code=1)
        assert "not made by this lab" in refused.stderr
        shown = subprocess.run(["ip", "netns", "list"], capture_output=True, text=True, check=True).stdout
        assert other in shown
    finally:
        subprocess.run(["ip", "netns", "delete", other], check=True)
    assert lab.left_behind() == []


def test_a_crash_while_it_comes_up_leaves_nothing(lab, tmp_path):
    done = lab.up(chain(tmp_path), env=crashing(tmp_path, "__init__"), code=1)
    assert "internal error: MemoryError: the crash of the test" in done.stderr
    assert "Traceback" in (RUN_FOLDER / f"{lab.name}.log").read_text()
    (RUN_FOLDER / f"{lab.name}.log").unlink(missing_ok=True)
    assert lab.left_behind() == []


def test_without_privileges_it_says_what_is_lacking(permitted, tmp_path):
    file = chain(tmp_path)
    words = ["setpriv", "--bounding-set=-net_admin,-net_raw", "--inh-caps=-all", PROGRAM, "lab", "up", str(file)]
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, check=False)
    assert done.returncode == 2, done
    assert "CAP_NET_ADMIN" in done.stderr
    assert "sudo" in done.stderr


def test_the_control_socket_is_its_owners_alone_and_hears_sense_only(lab, tmp_path):
    import socket

    lab.up(chain(tmp_path))
    path = RUN_FOLDER / lab.name / "control"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700

    def say(what):
        with socket.socket(socket.AF_UNIX) as to:
            to.settimeout(30)
            to.connect(str(path))
            try:
                to.sendall(what)
                return to.makefile().readline()
            except (BrokenPipeError, ConnectionResetError):
                return ""

    assert json.loads(say(b'{"command": "status"}\n'))["ok"]
    for nonsense in (b"\n", b"[]\n", b'{"command": "dance"}\n', b'{"version": 9, "command": "status"}\n', b"\xff\n"):
        answer = json.loads(say(nonsense))
        assert not answer["ok"], nonsense
    assert say(b"x" * 100_000) == ""
    with socket.socket(socket.AF_UNIX) as silent:
        silent.connect(str(path))
        assert lab.status()["frames_inside"] == 0


def test_help_of_lab_corrupt_works_as_it_stands(lab, tmp_path):
    """Regression: the example in the help was refused."""
    lab.up(chain(tmp_path))
    lab.tell("corrupt", "sw1-sw2", "1e-3")
    assert lab.status()["states"] == {"sw1->sw2": "loses 0.001"}
    shown = lab.tell("status").stdout
    assert "loses 0.001" in shown
    assert "not shown" in shown
    assert "not shown" not in lab.tell("status", "--all").stdout


def test_ctrl_c_while_a_lab_comes_up_is_answered_at_once(lab, tmp_path):
    """Regression: 33 s of silence for 320 hosts."""
    text = """
name = "interrupted"
[topology]
kind = "leaf-spine"
leaves = 2
spines = 1
hosts_per_leaf = 40
host_link = { rate = "10 Mbps", delay = "5 us" }
core_link = { rate = "10 Mbps", delay = "5 us" }
"""
    (tmp_path / "many.toml").write_text(text)
    with lab.starting(tmp_path / "many.toml", stderr=subprocess.PIPE, text=True) as process:
        wait_until(Path(f"/run/netns/hitless.{lab.name}").exists)
        process.send_signal(signal.SIGINT)
        told = process.stderr.read()
    assert process.returncode == 130
    assert f"interrupted: removing the lab {lab.name}" in told
    assert lab.left_behind() == []
