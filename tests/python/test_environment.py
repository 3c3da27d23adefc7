"""Locked folders, endless files, names that are not UTF-8, and terminals that cannot show them."""

import functools
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import numpy as np
import pytest

import warm
from hitless.drawing.picture import Picture
from hitless.drawing.plot import Plot, Series
from hitless.errors import BadInput, HitlessError, explained, was_interrupted
from hitless.outcome import stored
from hitless.outcome.tables import Tables, write_frame
from hitless.results import FolderLock, ResultsFolder
from hitless.runs.point import Point
from hitless.runs.pool import Pool, Task
from hitless.visible import visible
from hitless.whole_file import read_bytes, read_text, whole

HERE = Path(__file__).parent
FAKE = [sys.executable, str(HERE / "fake_hitless.py")]
ESCAPE = "\x1b[31mred\x9b0m"
REVERSED = "\u202emoc\u2066\u200f\u2028"


@pytest.fixture
def hitless(tmp_path):
    return functools.partial(warm.fake_hitless, cwd=tmp_path)


@pytest.fixture
def scenario(tmp_path):
    (tmp_path / "mine.toml").write_text('scheme = "LG"\nmessages = 1000\n')


def test_a_folder_that_another_run_writes_to_is_refused_with_its_process(tmp_path):
    first = ResultsFolder("a", tmp_path / "out")
    with pytest.raises(BadInput, match=f"another run writes to this folder: process {os.getpid()}") as refused:
        ResultsFolder("a", tmp_path / "out")
    assert "choose another --out" in refused.value.hint
    first.close()
    ResultsFolder("a", tmp_path / "out").close()


def test_a_lock_ends_with_a_process_that_is_killed(tmp_path):
    code = "import sys; from pathlib import Path; from hitless.results import FolderLock\n"
    code += "lock = FolderLock(Path(sys.argv[1])); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", code, str(tmp_path)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BadInput, match=f"process {holder.pid}"):
            FolderLock(tmp_path)
        holder.kill()
        holder.wait()
        FolderLock(tmp_path).release()


def test_shards_of_a_sweep_share_a_folder_and_each_is_written_once(tmp_path):
    one, other = FolderLock(tmp_path, "sweep-1-of-2"), FolderLock(tmp_path, "sweep-2-of-2")
    for part in ("sweep-1-of-2", ""):
        with pytest.raises(BadInput, match="another run"):
            FolderLock(tmp_path, part)
    one.release()
    FolderLock(tmp_path, "sweep-1-of-2").release()
    other.release()
    FolderLock(tmp_path).release()


def test_two_runs_at_once_without_a_folder_have_one_each(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    folders = [ResultsFolder("a") for _ in range(3)]
    assert len({folder.path for folder in folders}) == 3


def test_two_runs_into_one_folder_do_not_mix_their_files(tmp_path):
    command = [*FAKE, "reproduce", "demo/slow", "--quick", "--out", "out"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=tmp_path) as first:
        while not (tmp_path / "out").exists():
            assert first.poll() is None
        warm.fake_hitless("reproduce", "demo/tab2", "--quick", "--out", "other", cwd=tmp_path)
        done = warm.fake_hitless("reproduce", "demo/tab2", "--quick", "--out", "out", cwd=tmp_path, code=2)
        assert f"another run writes to this folder: process {first.pid}" in done.stderr
        first.terminate()
        first.communicate()


def test_a_run_into_the_folder_of_an_interrupted_one_names_the_files_that_are_not_its_own(hitless, scenario, tmp_path):
    old = tmp_path / "out/run-old"
    old.mkdir(parents=True)
    (old / "flows.parquet").write_text("rows of another run")
    (tmp_path / "out/manifest.json").write_text('{"interrupted": true}')
    for _ in range(2):
        done = hitless("run", "mine.toml", "--out", "out")
        warning = "out also has files that this run did not write: run-old/flows.parquet"
        assert f"warning: {warning}\n" in done.stderr
        assert warning in json.loads((tmp_path / "out/manifest.json").read_text())["warnings"]
        assert warning in (tmp_path / "out/report.html").read_text()
    (old / "flows.parquet").unlink()
    assert "did not write" not in hitless("run", "mine.toml", "--out", "out").stderr


@pytest.mark.parametrize(
    ("out", "told"),
    [
        ("", "must not be empty"),
        ("mine.toml", "it is not a folder"),
        ("mine.toml/below", "Not a directory"),
        ("a\nb", "its name has a control character"),
        ("a\x1b[31m", "its name has a control character"),
        ("x" * 300, "File name too long"),
        ("/proc/nothing", "No such file or directory"),
    ],
)
def test_an_odd_folder_is_refused_before_the_run(hitless, scenario, tmp_path, out, told):
    done = hitless("run", "mine.toml", "--out", out, code=2)
    assert told in done.stderr
    assert "\x1b" not in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["mine.toml"]


def test_a_quoted_tilde_is_the_home_folder(hitless, scenario, tmp_path):
    here = tmp_path / "here"
    here.mkdir()
    hitless("run", "~/mine.toml", "--out=~/out", cwd=here, env=os.environ | {"HOME": str(tmp_path)})
    assert (tmp_path / "out/manifest.json").exists()
    assert list(here.iterdir()) == []


def test_a_folder_whose_name_has_a_nul_is_refused(tmp_path):
    with pytest.raises(BadInput, match="control character"):
        ResultsFolder("a", tmp_path / "a\0b")


@pytest.mark.parametrize(
    "arguments",
    [
        ("fleet", "trace", "--hours", "nan"),
        ("fleet", "trace", "--hours", "-1"),
        ("fleet", "trace", "--hours", "9" * 30),
        ("fleet", "trace", "--mttf-hours", "inf"),
        ("fleet", "compare", "--years", "9" * 30),
        ("run", "mine.toml", "--checkpoint", "1e300 s simulated"),
        ("run", "mine.toml", "--memory", "1e400GB"),
    ],
)
def test_a_number_that_no_setting_can_have_is_wrong_usage(hitless, scenario, arguments):
    done = hitless(*arguments, code=2)
    assert "internal error" not in done.stderr
    assert arguments[-2] in done.stderr


@pytest.mark.parametrize("name", ["pipe.toml", "/dev/zero"])
@pytest.mark.parametrize(
    "command", [["run"], ["compare"], ["scenario", "check"], ["sweep"], ["switch"], ["link"], ["corruptd", "check"]]
)
def test_a_pipe_or_a_device_as_a_file_is_an_error(tmp_path, command, name):
    os.mkfifo(tmp_path / "pipe.toml")
    done = warm.hitless(*command, name, code=2, timeout=120, cwd=tmp_path)
    assert "a pipe or a device instead of a regular file" in done.stderr


def test_a_pipe_as_a_mechanism_is_an_error(hitless, scenario, tmp_path):
    os.mkfifo(tmp_path / "early.py")
    done = hitless("run", "mine.toml", "--mechanism", "early.py", code=2, timeout=120)
    assert "instead of a regular file" in done.stderr


def test_files_of_any_other_kind_are_refused_with_the_reason(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(OSError, match="pipe or a device"):
        read_bytes(tmp_path / "pipe")
    with pytest.raises(BadInput, match="has an invalid character"):
        read_text(tmp_path / "a\0b")
    with (tmp_path / "large").open("wb") as file:
        file.truncate(1 << 40)
    with pytest.raises(BadInput, match="larger than"):
        read_text(tmp_path / "large")


def test_a_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail():
        with whole(path) as beside:
            beside.write_text("half")
            raise OSError(28, "full")

    with pytest.raises(OSError, match="full") as refused:
        fail()
    assert (path.read_text(), refused.value.filename) == ("old", str(path))
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("refused_at", [0, 2, 4, 5])
def test_rows_of_a_run_that_cannot_be_written_are_kept_in_memory(tmp_path, monkeypatch, refused_at):
    """Regression: the run failed, and its numbers were lost. Parts 0 to 3 are written during the run."""
    written = []

    def full(frame, path):
        written.append(path)
        if len(written) > refused_at:
            raise OSError(28, "No space left on device")
        write_frame(frame, path)

    monkeypatch.setattr(stored, "write_frame", full)
    rows = stored.RowFiles(tmp_path)
    for first in (0, 2, 4):
        rows.take("flows", {"flow": np.array([first, first + 1]), "group": ["a", "b"]})
    rows.take("messages", {"flow": np.array([7]), "group": ["c"]})
    tables = Tables(rows.finish()[1])
    assert tables["flows"].to_dict(as_series=False) == {"flow": [*range(6)], "group": ["a", "b"] * 3}
    assert tables["messages"].to_dict(as_series=False) == {"flow": [7], "group": ["c"]}
    assert not [*tmp_path.rglob("*.parquet")]


def test_more_rows_on_a_full_disk_than_memory_should_hold_are_an_error(tmp_path, monkeypatch):
    monkeypatch.setattr(stored, "READ_BACK_MAX_BYTES", 10)
    rows = stored.RowFiles(tmp_path)
    rows.take("flows", {"number": np.arange(3)})
    monkeypatch.setattr(stored, "write_frame", lambda *_: (_ for _ in ()).throw(OSError(28, "full")))
    with pytest.raises(OSError, match="full"):
        rows.finish()


def test_results_that_cannot_be_written_leave_nothing(tmp_path):
    folder = ResultsFolder("a", tmp_path / "out")
    folder.write_text("deep/first.txt", "text")
    with folder.troubles_kept():
        raise OSError(28, "No space left on device")
    assert "No space left on device" in str(folder.failure)
    folder.close()
    assert list(tmp_path.iterdir()) == []


def test_a_pipe_that_cannot_show_a_letter_shows_its_number(tmp_path):
    for encoding in ("ascii", "latin-1", "utf-8"):
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        missing = os.fsdecode(b"\xff") + "\u2014\u00e4.toml"
        done = subprocess.run([*FAKE, "run", missing], capture_output=True, cwd=tmp_path, env=environment, check=False)
        assert done.returncode == 2, (encoding, done.stderr)
        assert b"internal" not in done.stderr
        assert b"\\udcff" in done.stderr


def test_a_document_for_programs_is_json_in_every_encoding(tmp_path):
    name = os.fsdecode(b"\xff") + "\u2014.toml"
    (tmp_path / name).write_text('scheme = "LG"\nmessages = 1000\n')
    for encoding in ("ascii", "utf-8"):
        command = [*FAKE, "run", name, "--json", "--out", encoding]
        environment = os.environ | {"PYTHONIOENCODING": encoding}
        done = subprocess.run(command, capture_output=True, cwd=tmp_path, env=environment, check=True)
        assert "\u2014" in json.loads(done.stdout.decode(encoding))["scenario"]
    manifest = json.loads((tmp_path / "ascii/manifest.json").read_text(encoding="utf-8"))
    assert manifest["command"][2] == name


def test_standard_input_is_utf_8_whatever_the_terminal_has(tmp_path):
    environment = os.environ | {"PYTHONIOENCODING": "ascii"}
    text = 'scheme = "LG" # \u00e4'.encode()
    done = subprocess.run(
        [*FAKE, "scenario", "check", "-"], input=text, capture_output=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr


def test_control_characters_are_shown_and_not_sent():
    assert visible(ESCAPE) == "\\u001b[31mred\\u009b0m"
    assert visible("a\tb\nc\r\x00\x7f\udcff\ufffe") == "a\tb\nc\\u000d\\u0000\\u007f\\udcff\\ufffe"
    assert visible("\u00e4 \u2014 \U0001f600") == "\u00e4 \u2014 \U0001f600"


@pytest.mark.parametrize(
    "arguments", [["run", f"{ESCAPE}.toml"], ["run", "mine.toml", ESCAPE], [ESCAPE], ["reproduce", ESCAPE]]
)
def test_control_characters_of_an_argument_reach_no_terminal(hitless, scenario, arguments):
    done = hitless(*arguments, code=2)
    assert not {"\x1b", "\x9b"} & set(done.stdout + done.stderr)


def test_control_characters_reach_no_table():
    code = "from rich.table import Table; from hitless.terminal.console import stdout, print_text, print_note\n"
    code += f"name = {ESCAPE!r}; table = Table(title=name); table.add_column(name); table.add_row(name)\n"
    code += "stdout.print(table); stdout.print(name); print_text(name); print_note(name)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert not {"\x1b", "\x9b"} & set(done.stdout + done.stderr)
    assert (done.stdout + done.stderr).count("\\u001b[31") >= 6


def test_characters_that_reverse_text_reach_no_terminal(hitless, tmp_path):
    assert visible(REVERSED) == r"\u202emoc\u2066\u200f\u2028"
    joined = "\u0645\u06cc\u200c\u062e \U0001f469\u200d\U0001f52c"
    assert visible(joined) == joined
    (tmp_path / f"{REVERSED}.toml").write_text('scheme = "LG"\nmessages = 1000\n')
    for words, code in ((["", "--json"], 0), ([""], 0), (["no"], 2)):
        done = hitless("run", f"{words[0]}{REVERSED}.toml", *words[1:], code=code)
        assert not set("\u202e\u2066\u200f\u2028") & set(done.stdout + done.stderr)
        assert r"\u202emoc" in done.stdout + done.stderr


def test_control_characters_reach_no_picture_and_it_is_valid_xml():
    series = [Series(ESCAPE, [1.0, 2.0], [1.0, 2.0]), Series("\x00\x0b\ufffe\udcff", ["\x1bx", "y"], [1.0, 2.0])]
    for each in series:
        svg = Picture(Plot(ESCAPE, ESCAPE, ESCAPE, [each])).svg
        ET.fromstring(svg)  # noqa: S314 - it is ours
        assert not {"\x1b", "\x9b", "\x00"} & set(svg)
        svg.encode()


def test_ctrl_c_during_an_import_is_no_error():
    wrapped = ImportError("numpy")
    wrapped.__cause__ = KeyboardInterrupt()
    again = RuntimeError("a library")
    again.__context__ = wrapped
    assert was_interrupted(again)
    assert not was_interrupted(ImportError("numpy"))


def test_ctrl_c_while_the_program_is_loaded_ends_it_without_a_traceback(tmp_path):
    """A module that it loads presses Ctrl-C."""
    (tmp_path / "typer.py").write_text("import os, signal, time\nos.kill(os.getpid(), signal.SIGINT)\ntime.sleep(9)\n")
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-m", "hitless", "--version"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
    assert done.returncode in {-2, 130}
    assert done.stderr == ""


def test_ctrl_c_in_the_first_milliseconds_is_handled_before_typing_is_imported():
    """Until then, it shows a traceback. A script of pip imports re itself."""
    code = "import re, sys; before = set(sys.modules); import hitless.__main__; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    wanted = {"hitless", "hitless.__main__", "hitless.native", "signal"}
    wanted |= {"importlib", "importlib._bootstrap", "importlib._bootstrap_external", "warnings"}
    assert set(done.stdout.split()) <= wanted


class Greedy:
    """Work that exceeds the memory."""

    progress = 0.0

    def job(self, *, file_name, seed):
        return self

    def cancel(self):
        pass

    def run(self, keep=None):
        raise MemoryError


def test_a_run_without_memory_fails_alone_and_says_why():
    task = Task("demo", Point("greedy", Greedy()), 1)
    assert [task] == list(Pool(1).run([task], lambda _: None))
    assert "there is not enough memory" in str(task.failure)


@pytest.mark.parametrize(
    ("fault", "told"),
    [
        (MemoryError(), "there is not enough memory"),
        (OSError(28, "No space left on device", "x"), "no space"),
        (PermissionError(13, "Permission denied", "/root/x"), "the system says: Permission denied"),
        (ZeroDivisionError("why"), "internal error: ZeroDivisionError: why"),
    ],
)
def test_what_the_environment_causes_is_no_internal_error(fault, told):
    error = explained(fault)
    assert isinstance(error, HitlessError)
    assert told in str(error)
