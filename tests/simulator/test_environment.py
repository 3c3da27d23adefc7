"""Limits of memory, full disks, and files that never end."""

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from hitless import _native
from warm import PROGRAM, hitless
from worlds import dumbbell, fixed, flows, ideal, tcp, world

GB = 1 << 30
MACHINE = "MemTotal: 67108864 kB\nMemAvailable: 33554432 kB\n"
V1_UNLIMITED = "9223372036854771712\n"

SCENARIO = world(
    "small",
    dumbbell(2, 2),
    ideal(),
    tcp(),
    flows("poisson", ["h0..h1"], ["h2..h3"], name="FLOWS", flows_per_second=20_000.0, sizes=fixed("10 KB")),
    duration="1 ms",
)


@pytest.fixture
def root(tmp_path, monkeypatch):
    """Simulate a machine with 64 GiB of memory, half of it free, without limits of cgroups or ulimit."""
    monkeypatch.delenv("HITLESS_MEMORY", raising=False)
    write(tmp_path, "proc/meminfo", MACHINE)
    write(tmp_path, "proc/self/limits", "Max address space         unlimited            unlimited            bytes\n")
    return tmp_path


def write(root: Path, name: str, text: str) -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def second(root: Path, own: str = "/system.slice/job.service", mounted: str = "/", place: str = "/sys/fs/cgroup"):
    write(root, "proc/self/cgroup", f"0::{own}\n")
    write(root, "proc/self/mountinfo", f"31 23 0:28 {mounted} {place} rw,relatime - cgroup2 cgroup2 rw\n")


def first(root: Path, own: str, mounted: str = "/"):
    write(root, "proc/self/cgroup", f"9:name=systemd:/other\n4:cpu,memory:{own}\n0::/\n")
    mounts = (
        f"32 31 0:29 / /sys/fs/cgroup/pids rw - cgroup cgroup rw,pids\n35 31 0:32 {mounted} /sys/fs/cgroup/memory rw,"
    )
    write(root, "proc/self/mountinfo", mounts + "relatime shared:9 - cgroup cgroup rw,cpu,memory\n")


def test_without_limits_a_run_may_take_what_is_free(root):
    second(root)
    write(root, "sys/fs/cgroup/system.slice/job.service/memory.max", "max\n")
    assert _native.memory_limit(root) == 32 * GB


@pytest.mark.parametrize("group", ["", "/system.slice", "/system.slice/job.service"])
@pytest.mark.parametrize("file", ["memory.max", "memory.high"])
def test_a_limit_of_any_group_around_the_process_counts(root, group, file):
    second(root)
    for other in ("", "/system.slice", "/system.slice/job.service"):
        write(root, f"sys/fs/cgroup{other}/memory.max", f"{20 * GB}\n")
    write(root, f"sys/fs/cgroup{group}/{file}", f"{2 * GB}\n")
    assert _native.memory_limit(root) == 2 * GB


def test_a_limit_of_a_group_beside_the_process_does_not_count(root):
    second(root)
    write(root, "sys/fs/cgroup/system.slice/other.service/memory.max", f"{GB}\n")
    assert _native.memory_limit(root) == 32 * GB


def test_a_container_sees_its_own_group_as_the_topmost(root):
    second(root, own="/")
    write(root, "sys/fs/cgroup/memory.max", f"{3 * GB}\n")
    assert _native.memory_limit(root) == 3 * GB


def test_a_container_with_the_names_of_its_host_finds_its_group(root):
    second(root, own="/docker/abc/inner", mounted="/docker/abc")
    write(root, "sys/fs/cgroup/memory.max", f"{5 * GB}\n")
    write(root, "sys/fs/cgroup/inner/memory.max", f"{4 * GB}\n")
    assert _native.memory_limit(root) == 4 * GB
    second(root, own="/../elsewhere", mounted="/docker/abc")
    assert _native.memory_limit(root) == 5 * GB


def test_a_place_with_a_blank_in_its_name_is_found(root):
    second(root, own="/job", place="/mnt/the\\040groups")
    write(root, "mnt/the groups/job/memory.max", f"{GB}\n")
    assert _native.memory_limit(root) == GB


@pytest.mark.parametrize("group", ["", "/slurm", "/slurm/uid_0/job_7/step_0"])
def test_limits_of_the_first_version_of_groups_count(root, group):
    first(root, "/slurm/uid_0/job_7/step_0")
    for other in ("", "/slurm", "/slurm/uid_0/job_7/step_0"):
        write(root, f"sys/fs/cgroup/memory{other}/memory.limit_in_bytes", V1_UNLIMITED)
    write(root, f"sys/fs/cgroup/memory{group}/memory.limit_in_bytes", f"{6 * GB}\n")
    assert _native.memory_limit(root) == 6 * GB


def test_the_hierarchical_limit_tells_of_groups_that_are_not_seen(root):
    first(root, "/docker/abc", mounted="/docker/abc")
    write(root, "sys/fs/cgroup/memory/memory.limit_in_bytes", V1_UNLIMITED)
    write(root, "sys/fs/cgroup/memory/memory.stat", f"cache 1\nhierarchical_memory_limit {7 * GB}\n")
    assert _native.memory_limit(root) == 7 * GB


def test_a_limit_of_addresses_counts(root):
    second(root)
    write(root, "proc/self/limits", f"Max address space         {8 * GB}           unlimited            bytes\n")
    assert _native.memory_limit(root) == 8 * GB


@pytest.mark.parametrize(("asked", "limit"), [(1, 1), (2, 2), (48, 2)])
def test_memory_that_is_asked_for_is_no_more_than_there_is(root, monkeypatch, asked, limit):
    monkeypatch.setenv("HITLESS_MEMORY", str(asked * GB))
    second(root)
    write(root, "sys/fs/cgroup/system.slice/memory.max", f"{2 * GB}\n")
    assert _native.memory_limit(root) == limit * GB


def test_memory_that_is_asked_for_is_no_more_than_the_machine_has(root, monkeypatch):
    monkeypatch.setenv("HITLESS_MEMORY", str(100 * GB))
    second(root)
    assert _native.memory_limit(root) == 64 * GB


def test_a_machine_that_tells_nothing_has_no_limit(root):
    (root / "proc/meminfo").unlink()
    assert _native.memory_limit(root) is None


def prepared(folder: Path) -> Path:
    (folder / "disk").mkdir(exist_ok=True)
    (folder / "small.toml").write_text(SCENARIO.replace("FLOWS", "a"))
    axes = '[axes]\n"flows.a.sizes.bytes" = ["10 KB", "20 KB"]\n'
    (folder / "sweep.toml").write_text(f'scenario = "small.toml"\nseeds = 2\nkeep = ["messages"]\n{axes}')
    return folder


def on_a_small_disk(folder: Path, free_kb: int, *command: str) -> subprocess.CompletedProcess[str]:
    """Run a command on a disk of 1 MB and append the remaining files to stdout."""
    script = f"""
        mount -t tmpfs -o size=1m tmpfs disk &&
        {{ cat /dev/zero > disk/fill; truncate --size=-{free_kb}K disk/fill; }} 2> /dev/null || exit 99
        {shlex.join([str(PROGRAM), *command])}
        code=$?
        echo ---- && cd disk && find . -mindepth 1
        exit $code
    """
    prepared(folder)
    unshare = ["unshare", "--mount", *(["--map-root-user"] if os.geteuid() else []), "sh", "-c", script]
    done = subprocess.run(unshare, capture_output=True, text=True, cwd=folder, check=False)
    if done.returncode == 99 or "unshare:" in done.stderr:
        pytest.skip("no disk can be mounted here")
    return done


@pytest.mark.parametrize(
    ("command", "told"),
    [
        (["run", "small.toml", "--out", "disk/out"], "FCT, us"),
        (["sweep", "sweep.toml", "--out", "disk/out"], "mean FCT"),
        (["fleet", "run", "--topology", "fabric:pods=1", "--out", "disk/out"], "links taken down"),
        (["fleet", "trace", "--topology", "fabric:pods=2", "--out", "disk/out"], ""),
        (
            ["compare", "small.toml", "--set", "flows.a.sizes.bytes=20 KB", "--seeds", "2", "--out", "disk/out"],
            "b to a",
        ),
    ],
)
def test_a_full_disk_is_told_as_such_and_leaves_nothing_half(tmp_path, command, told):
    done = on_a_small_disk(tmp_path, 0, *command)
    assert done.returncode in {1, 2}, done.stderr
    assert "No space left on device" in done.stderr
    assert "internal error" not in done.stderr
    assert "standard output" not in done.stderr
    printed, _, left = done.stdout.partition("----\n")
    assert told in printed
    assert left.split() == ["./fill"], left


@pytest.mark.parametrize(("free_kb", "is_kept"), [(0, False), (60, True)])
def test_a_full_disk_names_the_finished_runs_that_are_kept(tmp_path, free_kb, is_kept):
    other = ["--set", "flows.a.sizes.bytes=20 KB", "--seeds", "3"]
    done = on_a_small_disk(tmp_path, free_kb, "compare", "small.toml", *other, "--out", "disk/out")
    assert ("./out/points/" in done.stdout) is is_kept
    assert ("only finished runs are kept, in disk/out/points; free" in done.stderr) is is_kept
    assert ("nothing of this run is kept" in done.stderr) is not is_kept


@pytest.mark.parametrize("free_kb", [0, 40])
def test_a_checkpoint_that_has_no_room_leaves_the_one_before_or_none(tmp_path, free_kb):
    done = on_a_small_disk(
        tmp_path, free_kb, "run", "small.toml", "--checkpoint", "1 us simulated", "--out", "disk/out"
    )
    assert done.returncode == 1, done.stderr
    assert "No space left on device" in done.stderr
    assert "internal error" not in done.stderr
    left = set(done.stdout.partition("----\n")[2].split()) - {"./fill", "./out"}
    assert left in [set(), {"./out/checkpoint.json"}, {"./out/checkpoint.json", "./out/checkpoint"}], left


@pytest.mark.parametrize("free_kb", [0, 4, 8, 16, 40])
def test_rows_of_a_run_that_cannot_be_written_cost_no_number(tmp_path, free_kb):
    """On the smallest disk no rows fit; on the biggest all rows fit, but not all tables."""
    expected = hitless("run", "small.toml", "--out", "out", cwd=prepared(tmp_path)).stdout
    done = on_a_small_disk(tmp_path, free_kb, "run", "small.toml", "--out", "disk/out")
    assert done.returncode == 1, done.stderr
    assert "the results cannot be written: No space left on device" in done.stderr
    printed, _, left = done.stdout.partition("----\n")
    assert "FCT, us" in printed
    assert printed == expected
    assert left.split() == ["./fill"], left


@pytest.mark.parametrize(
    ("place", "entry"),
    [
        ("[[flows]]", 'name = "l"\nkind = "list"\ntransport = "tcp"\npacket_bytes = "1 KB"\nfile = "FILE"\n'),
        ("[[link]]", 'name = "left->right"\nloss = { kind = "trace", file = "FILE" }\n'),
        (
            "[[flows]]",
            'name = "c"\nkind = "poisson"\ntransport = "tcp"\nflows_per_second = 9.0\nsizes = { kind = "cdf", '
            'table = "FILE" }\nsources = ["h0"]\ndestinations = ["h2"]\n',
        ),
        ("[[mechanism]]", 'kind = "p4"\nprogram = "FILE"\n'),
    ],
)
def test_a_pipe_that_a_scenario_names_is_an_error(tmp_path, place, entry):
    ending = {"list": ".flows", "trace": ".losses", "cdf": ".txt", "p4": ".json"}
    [kind] = [kind for kind in ending if f'"{kind}"' in entry]
    name = f"pipe{ending[kind]}"
    os.mkfifo(tmp_path / name)
    text = SCENARIO.replace("FLOWS", "a") + f"{place}\n{entry.replace('FILE', name)}"
    (tmp_path / "mine.toml").write_text(text)
    done = hitless("run", "mine.toml", cwd=tmp_path, code=2)
    assert "a regular file is needed" in done.stderr, done.stderr


def test_control_characters_of_a_scenario_reach_no_terminal_and_no_picture(tmp_path):
    (tmp_path / "mine.toml").write_text(SCENARIO.replace("FLOWS", "g\\u001b[31m\\u009b1m"))
    done = hitless("run", "mine.toml", "--out", "out", cwd=tmp_path)
    assert "g\\u001b[31m" in done.stdout
    documents = [tmp_path / "out/report.html", *(tmp_path / "out/pictures").iterdir()]
    texts = [done.stdout, done.stderr, *(path.read_text(encoding="utf-8") for path in documents)]
    assert len(texts) > 3
    assert not [text for text in texts if {"\x1b", "\x9b"} & set(text)]


def test_control_characters_in_a_refused_scenario_reach_no_terminal(tmp_path):
    (tmp_path / "mine.toml").write_text("name = '\x1b[31m'\nsed = 1\n[topology]\nkind = \"\\u001b\"\n")
    done = hitless("run", "mine.toml", cwd=tmp_path, code=2)
    assert "\x1b" not in done.stderr


def test_many_faulty_links_are_told_at_once(tmp_path):
    """Regression: its time grew with the square of their number: half a minute for 20,000."""
    entry = '[[link]]\nname = "x{0}->y{0}"\nloss = {{ kind = "bernoulli", rate = 0.1 }}\n'
    text = SCENARIO.replace("FLOWS", "a") + "".join(entry.format(number) for number in range(20_000))
    (tmp_path / "mine.toml").write_text(text)
    done = hitless("scenario", "check", "mine.toml", cwd=tmp_path, code=2, timeout=20)
    assert "and 19996 more errors" in done.stderr
