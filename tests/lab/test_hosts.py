"""The hosts of a lab, counters at its edge, its results, and invalid input."""

import json
import os
import subprocess
import threading
import time

import polars as pl
import pytest

from hitless.live import LiveRun, check_live
from hitless.outcome.schema import SCHEMA_KEY, declared_tables, schema_version
from labs import RUN_FOLDER, chain, crashing
from traffic import send
from waiting import wait_until
from warm import hitless


def arrived(lab, link="sw2->h2"):
    return next(each for each in lab.status()["links"] if each["link"] == link)["frames_arrived"]


def test_hosts_have_ipv6_when_asked_and_know_each_other(lab, tmp_path):
    lab.up(chain(tmp_path), "--ipv6")
    assert "fd00::1/64" in lab.run("h1", "ip", "-6", "addr").stdout
    done = hitless("lab", "exec", "--name", lab.name, "h1", "--", "getent", "ahostsv6", "h2")
    assert done.stdout.split()[0] == "fd00::2"
    before = arrived(lab)
    send(lab, "fd00::2")
    wait_until(lambda: arrived(lab) >= before + 10)


def test_an_address_of_ipv6_survives_a_link_flap(lab, tmp_path):
    lab.up(chain(tmp_path), "--ipv6")
    for state in ("down", "up"):
        lab.run("h1", "ip", "link", "set", "eth0", state)
    assert "fd00::1/64" in lab.run("h1", "ip", "-6", "addr").stdout
    before = arrived(lab)

    def has_arrived():
        send(lab, "fd00::2")
        return arrived(lab) > before

    wait_until(has_arrived)


def test_an_interface_of_a_lab_that_is_renamed_and_returns_is_used_again(lab, tmp_path):
    lab.up(chain(tmp_path))
    fabric = ["ip", "-n", f"hitless.{lab.name}", "link", "set"]
    for old, new in (("h2", "elsewhere"), ("elsewhere", "h2")):
        subprocess.run([*fabric, old, "down"], check=True)
        subprocess.run([*fabric, old, "name", new, "up"], check=True)
        wait_until(lambda is_there=new == "h2": lab.status()["ports"][1]["has_carrier"] == is_there)
        if new != "h2":
            wait_until(lambda: "h2 is gone" in lab.status()["ports"][1].get("failed", ""))
    assert lab.status()["ports"][1]["returns"] == 1
    before = arrived(lab)
    send(lab, "10.0.0.2")
    wait_until(lambda: arrived(lab) >= before + 10)
    log = RUN_FOLDER / f"{lab.name}.log"
    wait_until(lambda: "h2, the interface of h2, is back and used again" in log.read_text())


def test_a_lab_leaves_a_folder_of_results_as_a_simulated_run_does(lab, tmp_path):
    out = tmp_path / "results"
    lab.up(chain(tmp_path), "--out", out)
    send(lab, "10.0.0.2")
    wait_until(lambda: arrived(lab) >= 10)
    lab.down()
    links = pl.read_parquet(out / "live" / "links.parquet")
    simulated = tmp_path / "simulated.toml"
    simulated.write_text('duration = "50 ms"' + chain(tmp_path, more=ONE_FLOW).read_text())
    hitless("run", simulated, "--out", tmp_path / "simulated")
    folder = next(path.parent for path in (tmp_path / "simulated").glob("*/links.parquet"))
    assert links.schema == pl.read_parquet(folder / "links.parquet").schema
    for name in ("manifest.json", "summary.json"):
        assert json.loads((out / name).read_text())["schema"] == schema_version()
    for path in (out / "live").glob("*.parquet"):
        declared = {column.name for column in declared_tables()[path.stem].columns}
        assert set(pl.read_parquet_schema(path)) <= declared, path
        assert pl.read_parquet_metadata(path)[SCHEMA_KEY] == str(schema_version())
    manifest = json.loads((out / "manifest.json").read_text())
    assert manifest["clock"] == "wall"
    assert manifest["command"][:3] == ["hitless", "lab", "up"]
    assert manifest["runs"][0]["drops"] == manifest["drops"]
    assert json.loads((out / "status.json").read_text())["frames_left"] >= 10
    assert "h1" in (out / "live" / "live.toml").read_text()
    refused = lab.up(chain(tmp_path), "--out", out, code=2)
    assert "this path already exists" in refused.stderr


def test_a_lab_whose_results_cannot_be_written_prints_its_numbers(lab, tmp_path):
    """Regression: `lab down` reported missing results."""
    full = tmp_path / "full"
    full.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "full", full], check=True)
    try:
        lab.up(chain(tmp_path), "--out", full / "results")
        send(lab, "10.0.0.2")
        wait_until(lambda: arrived(lab) >= 10)
        done = lab.down(code=1)
        assert json.loads(done.stdout)["frames_left"] >= 10
        assert "the results cannot be written" in done.stderr
        assert "No space left on device" in done.stderr
        assert list(full.iterdir()) == []
    finally:
        subprocess.run(["umount", full], check=True)


ONE_FLOW = """
[[transport]]
name = "tcp"
kind = "tcp"
[[flows]]
name = "one"
transport = "tcp"
kind = "schedule"
sources = ["h1"]
destinations = ["h2"]
sizes = { kind = "fixed", bytes = "10 KB" }
period = "1 s"
count = 1
"""


def test_what_the_kernel_drops_at_the_edge_is_counted_and_told(lab, tmp_path):
    lab.up(chain(tmp_path))
    assert lab.status()["kernel_drops"] == []
    # The kernel drops frames that exceed the maximum of the veth's other end.
    subprocess.run(["ip", "-n", f"hitless.{lab.name}", "link", "set", "h1", "mtu", "1000"], check=True)
    send(lab, "10.0.0.2", count=7, size=1_400)
    status = lab.status()
    assert sum(row["received"] + row["sent"] for row in status["kernel_drops"]) >= 7
    assert any("the kernel dropped" in warning for warning in status["warnings"])
    assert "the kernel dropped" in " ".join(lab.down().stderr.split())


def test_an_interface_without_carrier_is_a_link_that_is_down(lab, tmp_path):
    lab.up(chain(tmp_path))
    h2 = ["ip", "-n", f"hitless.{lab.name}.h2", "link", "set", "eth0"]

    def port():
        return next(port for port in lab.status()["ports"] if port["node"] == "h2")

    subprocess.run([*h2, "down"], check=True)
    wait_until(lambda: not port()["has_carrier"])
    before = arrived(lab)
    send(lab, "10.0.0.2")
    wait_until(lambda: lost_down(lab) >= 10)
    assert arrived(lab) == before
    subprocess.run([*h2, "up"], check=True)
    wait_until(lambda: port()["has_carrier"])
    assert port()["carrier_losses"] == 1
    address = ["ip", "-n", f"hitless.{lab.name}.h1", "neighbour", "replace", "10.0.0.2"]
    subprocess.run([*address, "lladdr", "02:00:0a:00:00:02", "dev", "eth0", "nud", "permanent"], check=True)
    send(lab, "10.0.0.2")
    wait_until(lambda: arrived(lab) >= before + 10)


def lost_down(lab):
    return next(each for each in lab.status()["links"] if each["link"] == "sw2->h2")["frames_lost_down"]


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["fail", ""], "link ''"),
        (["repair", ""], "link ''"),
        (["corrupt", "sw1-sw2", "nan"], "nan is not a number"),
        (["corrupt", "sw1-sw2", "inf"], "inf is not in the range 0.0<=x<=1.0"),
        (["corrupt", "sw1-sw2", "1e-3", "--mean-burst", "nan"], "nan is not a number"),
    ],
)
def test_an_empty_name_and_what_is_no_number_are_refused_in_words(words, told):
    done = hitless("lab", words[0], "--name", "no-lab-is-asked", *words[1:], code=2)
    assert told in " ".join(done.stderr.split()), done


def test_down_after_an_error_shows_the_end_of_the_log_and_removes_it(lab, tmp_path):
    lab.up(chain(tmp_path), env=crashing(tmp_path, "status"), code=1, traceback=True)
    assert (RUN_FOLDER / f"{lab.name}.log").exists()
    told = lab.down(traceback=True)
    assert "was already down; its remains are removed" in told.stderr
    assert "the crash of the test" in told.stderr
    assert lab.left_behind() == []


def test_a_lab_that_was_killed_before_it_wrote_a_record_is_cleared_by_down(lab, permitted):
    """It left its lock, its log, and half of a record."""
    folder = RUN_FOLDER / lab.name
    folder.mkdir(parents=True)
    for path in (folder / "lab.new", RUN_FOLDER / f"{lab.name}.lock", RUN_FOLDER / f"{lab.name}.log"):
        path.write_text("")
    lab.down()
    assert lab.left_behind() == []


def test_status_in_the_foreground_is_json_alone_on_stdout(lab, tmp_path):
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with lab.starting(chain(tmp_path), "--foreground", "--json", **pipes) as process:
        for line in process.stderr:
            if "Ctrl-C ends the lab" in line:
                break
        process.terminate()
        out, _ = process.communicate(timeout=300)
    assert json.loads(out)["name"] == lab.name


def test_other_threads_go_on_while_a_run_is_made(permitted, tmp_path):
    """It measures itself for 50 ms and opens its interfaces; it used to hold Python's lock meanwhile."""
    scenario = check_live(chain(tmp_path).read_text(), "chain.toml")
    ticks, is_over = [0], threading.Event()

    def tick():
        while not is_over.wait(1e-3):
            ticks[0] += 1

    thread = threading.Thread(target=tick)
    thread.start()
    try:
        with pytest.raises(Exception, match="there is no interface"):
            LiveRun(scenario, interfaces={"h1": "hl-none1", "h2": "hl-none2"})
    finally:
        is_over.set()
        thread.join()
    assert ticks[0] >= 5


def test_a_second_signal_while_the_first_is_handled_blocks_nothing(lab, tmp_path):
    lab.up(chain(tmp_path))
    pid = lab.pid()
    for _ in range(200):
        try:
            os.kill(pid, 15)
            os.kill(pid, 2)
        except ProcessLookupError:
            break
        time.sleep(1e-3)
    wait_until(lambda: lab.left_behind() == [])
