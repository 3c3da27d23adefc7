"""Points without tables are lines of a file: reading it in any state."""

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import pytest

from hitless.runs.keeping import KeptPoints
from hitless.runs.kept_lines import KeptLines
from hitless.simulation import Run, Summary

RUN = Run("a = 1\n", Summary({"seed": 3, "share": 0.1}), {}, 1.5)
KEEP_FOR_EVER = """
import sys
from pathlib import Path
from hitless.runs.kept_lines import KeptLines
lines = KeptLines(Path(sys.argv[1]))
for number in range(10**9):
    lines.keep(f"d{number}", {"text": "x" * 5000, "number": number})
"""


def test_a_run_without_tables_is_a_line_and_is_read_as_it_was_kept(tmp_path):
    KeptPoints(tmp_path).keep("d", RUN)
    [file] = tmp_path.iterdir()
    assert file.suffix == ".jsonl"
    points = KeptPoints(tmp_path)
    assert "d" in points
    read = points.load("d")
    assert (read.effective, read.summary, read.wall_s, dict(read.tables)) == (RUN.effective, RUN.summary, 1.5, {})


def test_the_last_line_about_a_point_counts_and_what_is_forgotten_is_gone(tmp_path):
    KeptLines(tmp_path).keep("d", {"n": 1})
    second = KeptLines(tmp_path)
    second.keep("d", {"n": 2})
    second.keep("other", {"n": 5})
    assert KeptLines(tmp_path).load("d") == {"n": 2}
    third = KeptLines(tmp_path)
    third.forget("d")
    third.forget("never there")
    assert "d" not in third
    assert "d" not in KeptLines(tmp_path)
    assert KeptLines(tmp_path).load("other") == {"n": 5}
    KeptLines(tmp_path).keep("d", {"n": 3})
    assert KeptLines(tmp_path).load("d") == {"n": 3}


@pytest.mark.parametrize(
    ("left", "there"),
    [(b'd {"n": 1}\ne {"n"', {"d"}), (b'\xff\xff\nd {"n": 1}\n', {"d"}), (b'd {"n": 1', set()), (b"", set())],
)
def test_half_a_line_is_not_there(tmp_path, left, there):
    (tmp_path / "0-host-1.jsonl").write_bytes(left)
    lines = KeptLines(tmp_path)
    assert {name for name in ("d", "e") if name in lines} == there
    lines.keep("e", {"n": 2})
    again = KeptLines(tmp_path)
    assert again.load("e") == {"n": 2}
    assert again.load("d") == ({"n": 1} if there else None)


def test_a_damaged_line_is_no_run(tmp_path):
    KeptLines(tmp_path).keep("d", {"n": 1})
    [file] = tmp_path.iterdir()
    file.write_bytes(b'd {"n" 1}\n')
    assert "d" in KeptLines(tmp_path)
    assert KeptLines(tmp_path).load("d") is None
    assert KeptPoints(tmp_path).load("d") is None


def test_a_process_killed_with_9_leaves_every_line_that_it_had_written(tmp_path):
    process = subprocess.Popen([sys.executable, "-c", KEEP_FOR_EVER, str(tmp_path)])
    while not any(path.stat().st_size > 500_000 for path in tmp_path.glob("*.jsonl")):
        assert process.poll() is None
    process.send_signal(signal.SIGKILL)
    process.wait()
    lines = KeptLines(tmp_path)
    count = 0
    while f"d{count}" in lines:
        assert lines.load(f"d{count}")["number"] == count
        count += 1
    assert count >= 90
    [file] = tmp_path.iterdir()
    assert file.read_bytes().count(b"\n") == count


def test_threads_append_whole_lines_to_one_file(tmp_path):
    lines = KeptLines(tmp_path)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(lambda number: lines.keep(f"d{number}", {"n": number}), range(200)))
    [file] = tmp_path.iterdir()
    assert [json.loads(line.partition(b" ")[2])["n"] for line in file.read_bytes().splitlines()] != []
    again = KeptLines(tmp_path)
    assert all(again.load(f"d{number}") == {"n": number} for number in range(200))


def test_a_folder_that_takes_nothing_costs_no_run(tmp_path):
    points = KeptPoints(tmp_path / "points")
    (tmp_path / "points").write_text("a file where the folder should be")
    points.keep("d", RUN)
    assert isinstance(points.trouble, OSError)


def test_the_folder_may_be_deleted_at_any_time(tmp_path):
    lines = KeptLines(tmp_path)
    lines.keep("d", {"n": 1})
    next(tmp_path.iterdir()).unlink()
    assert lines.load("d") is None
    lines.keep("e", {"n": 2})
    assert KeptLines(tmp_path).load("e") == {"n": 2}
