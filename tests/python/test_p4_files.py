"""Entries of P4 programs from files, and compiled programs that are older than their sources."""

import json
import shutil
from pathlib import Path

import pytest

from hitless.cli.bench import bench_program
from hitless.cli.p4_files import Entries, age_note, read_program
from hitless.cli.p4_run import scenario
from hitless.errors import BadInput

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def afq(tmp_path):
    """Copy p4/ with AFQ alone; return its program."""
    folder = tmp_path / "p4"
    shutil.copytree(ROOT / "p4" / "afq", folder / "afq")
    for path in (ROOT / "p4").glob("*.*"):
        shutil.copy(path, folder)
    return folder / "afq" / "afq.json"


@pytest.fixture
def forward(tmp_path):
    """Copy examples/p4; return its program."""
    shutil.copytree(ROOT / "examples" / "p4", tmp_path / "example")
    return tmp_path / "example" / "forward.json"


def append(path, text="\n"):
    path.write_text(path.read_text() + text)


def test_programs_as_they_were_compiled_are_nothing_to_tell_of(afq, forward):
    assert age_note(afq) is None
    assert age_note(forward) is None
    for path in sorted((ROOT / "p4").glob("*/*.json")):
        assert age_note(path) is None, path


@pytest.mark.parametrize("changed", ["afq/afq.p4", "headers.p4", "hitless.p4"])
def test_a_program_older_than_a_source_is_told_of_in_one_sentence(afq, changed, capsys):
    source = afq.parent.parent / changed
    append(source)
    note = age_note(afq)
    assert note is not None
    assert note.startswith(f"{afq} is older than its source ({source} changed since, by ")
    assert read_program(afq).startswith("{")
    told = capsys.readouterr()
    assert (told.out, told.err) == ("", f"{note}\n")


def test_a_source_that_is_gone_has_changed(afq):
    (afq.parent.parent / "hitless.p4").unlink()
    assert "hitless.p4 changed since" in age_note(afq)


def test_a_manifest_of_digests_alone_is_read_too(forward):
    append(forward.with_suffix(".p4"))
    assert f"{forward} is older than its source" in age_note(forward)


def test_a_program_that_was_changed_by_hand_is_told_of(afq):
    append(afq)
    assert f"{afq} is not what p4c made of {afq.with_suffix('.p4')}, by the digest in " in age_note(afq)


@pytest.mark.parametrize(
    "change",
    [
        # Recompiled outside the manifest.
        lambda afq: [append(afq), append(afq.with_suffix(".p4"))],
        # Without a source or a manifest it cannot tell.
        lambda afq: [append(afq), afq.with_suffix(".p4").unlink()],
        lambda afq: [append(afq), (afq.parent.parent / "manifest.json").unlink()],
        lambda afq: [append(afq), (afq.parent.parent / "manifest.json").write_text("[]")],
        lambda afq: [append(afq), (afq.parent.parent / "manifest.json").write_text('{"programs": {"afq": 5}}')],
        lambda afq: [append(afq), (afq.parent.parent / "manifest.json").write_text("no JSON")],
    ],
)
def test_where_nothing_is_known_nothing_is_told(afq, change):
    change(afq)
    assert age_note(afq) is None


def test_numbers_and_what_they_mean_go_together(tmp_path):
    with pytest.raises(BadInput, match="--p4runtime is given without --p4info"):
        Entries(p4runtime=tmp_path)
    with pytest.raises(BadInput, match="--p4info is given without --p4runtime"):
        Entries(p4info=tmp_path)
    assert Entries().files() == (("", ""), None)


def test_files_of_entries_are_read_with_their_names():
    folder = ROOT / "p4" / "afq"
    entries = Entries(folder / "commands.txt", folder / "afq.p4info.txtpb", folder / "entries.txtpb")
    (name, text), ((info, _), (request, updates)) = entries.files()
    assert (name, text) == (str(folder / "commands.txt"), (folder / "commands.txt").read_text())
    assert (info, request) == (str(folder / "afq.p4info.txtpb"), str(folder / "entries.txtpb"))
    assert updates.count("updates {") == (folder / "commands.txt").read_text().count("table_add")
    with pytest.raises(BadInput, match="none cannot be read"):
        Entries(folder / "none").files()


def test_a_fabric_gets_the_files_with_whole_paths(monkeypatch):
    monkeypatch.chdir(ROOT)
    files = Entries(None, Path("p4/afq/afq.p4info.txtpb"), Path("p4/afq/entries.txtpb"))
    text = scenario(Path("p4/afq/afq.json"), "leaf-spine", None, files, load=0.2, duration="1 ms")
    for name, path in (("p4info", "afq.p4info.txtpb"), ("p4runtime", "entries.txtpb")):
        assert f"{name} = {json.dumps(str(ROOT / 'p4' / 'afq' / path))}" in text
    assert "commands" not in text


def test_a_packet_to_be_measured_is_hexadecimal(tmp_path):
    """Regression: an internal error."""
    with pytest.raises(BadInput, match="not in hexadecimal digits"):
        bench_program(ROOT / "p4" / "afq" / "afq.json", Entries(), "no digits", packets=1, json=True)
