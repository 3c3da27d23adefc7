"""The summary: for each exhibit its rows over all seeds and of each, and the commit and length of the runs."""

import json
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hitless.drawing.picture import Picture
from hitless.errors import BadInput
from hitless.results import PLOTS, read_pictures
from hitless.whole_file import file_name, read_text
from hitless_papers.durations import read_folder
from hitless_papers.judge import Finding, Verdict, agreement
from hitless_papers.model import Effort
from hitless_papers.tails import is_tail, words_of

_DIGITS = 5
PICTURES = Path("docs/evidence/results/pictures")
"""Folder of the pictures of tails in a checkout."""


class Measurement(BaseModel):
    """What one seed measured of a row, and its verdict alone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    seed: int
    measured: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    verdict: Verdict


class SummaryRow(BaseModel):
    """A row of an exhibit, over its seeds."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    series: str
    x: str
    metric: str
    unit: str
    paper: float | str | None
    judge: str
    note: str = ""
    measured: float | None
    ci_low: float | None = None
    ci_high: float | None = None
    verdict: Verdict
    """That of all seeds: `hitless_papers.judge.decided`."""
    seeds: tuple[Measurement, ...]

    @property
    def is_finding(self) -> bool:
        """Is it a number that nobody has published?"""
        return self.judge == Finding.name

    @property
    def key(self) -> tuple[str, str, str]:
        """What the row is of."""
        return self.series, self.x, self.metric

    @property
    def agreement(self) -> str:
        """How far its seeds agree: "match with 2 of 3 seeds"; nothing where all do."""
        return agreement([each.verdict for each in self.seeds])


class SummaryTail(BaseModel):
    """Completion times divided into parts, without and with a system (`hitless_papers.tails`), with the first seed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    title: str
    words: str
    """Parts that the system removes and adds."""
    picture: str
    """Name of its file in `PICTURES`."""
    effort: Effort
    commit: str
    seed: int


class SummaryExhibit(BaseModel):
    """An exhibit as it was last run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    effort: Effort
    """quick, normal or full."""
    commit: str
    """Of the program that ran it, shortened."""
    seeds: tuple[int, ...]
    wall_s: float
    """Of one seed, on average."""
    not_judged: int
    """Rows that no seed judged and for which the paper has no number: they are in the report, and not kept here."""
    rows: tuple[SummaryRow, ...]
    tail: SummaryTail | None = None

    def row(self, key: tuple[str, str, str]) -> SummaryRow | None:
        """The row of a scheme, a setting and a metric, if it was kept."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many rows have each verdict, without findings of our own."""
        return Counter(row.verdict for row in self.rows if not row.is_finding)

    @property
    def paper(self) -> str:
        """The paper's name: what stands before the slash."""
        return self.id.partition("/")[0]


class Summary(BaseModel):
    """Everything that was run, by exhibit."""

    model_config = ConfigDict(extra="forbid")

    exhibits: list[SummaryExhibit] = Field(default_factory=list)

    @classmethod
    def read(cls, path: Path) -> Self:
        """The summary in a file; an empty one where there is no file. Raises `BadInput` where it is no summary."""
        if not path.exists():
            return cls()
        try:
            return cls.model_validate_json(read_text(path))
        except ValidationError as wrong:
            raise BadInput("the file is no summary of results", where=str(path), hint=str(wrong)) from wrong

    def write(self, path: Path) -> None:
        """Write it, a row a line, so that a change of one number is a change of one line."""
        parts = [_lines(exhibit) for exhibit in self.exhibits]
        path.write_text('{"exhibits": [\n' + ",\n".join(parts) + "\n]}\n", encoding="utf-8")

    def exhibit(self, name: str) -> SummaryExhibit | None:
        """The exhibit of an id, if it was run."""
        return next((exhibit for exhibit in self.exhibits if exhibit.id == name), None)

    def add(self, folders: Sequence[Path], order: Sequence[str], *, only_tails: bool = False) -> list[str]:
        """Put what the folders of `hitless reproduce` found in the place of what was there; return the ids.

        ``order`` is that of the exhibits in the file. ``only_tails`` adds the tails of recorded exhibits, and only
        these: their rows stay, and so does a tail without a picture in the folders.

        Raises `BadInput` for a folder without results, and for an exhibit that is in two folders, or has incomplete
        rows.
        """
        added: dict[str, SummaryExhibit] = {}
        for folder in folders:
            for one in _read_folder(folder, only_tails=only_tails):
                if one.id in added:
                    hint = "a folder has all seeds of an exhibit: hitless reproduce --seeds"
                    raise BadInput(f"{one.id} is in a folder before it, too", where=str(folder), hint=hint)
                added[one.id] = one
        if only_tails:
            known = {exhibit.id for exhibit in self.exhibits}
            found = {name: one.tail for name, one in added.items() if one.tail is not None and name in known}
            self.exhibits = [
                one.model_copy(update={"tail": found[one.id]}) if one.id in found else one for one in self.exhibits
            ]
            return list(found)
        kept = {exhibit.id: exhibit for exhibit in self.exhibits} | added
        place = {name: number for number, name in enumerate(order)}
        self.exhibits = sorted(kept.values(), key=lambda exhibit: place.get(exhibit.id, len(place)))
        return list(added)


def _read_folder(folder: Path, *, only_tails: bool) -> Iterable[SummaryExhibit]:
    document, manifest = read_folder(folder)
    tails = tails_of(folder)
    for exhibit in document["exhibits"]:
        if exhibit["id"] in manifest["incomplete"] and not only_tails:
            raise BadInput(f"{exhibit['id']} is not complete", where=str(folder), hint="run it again, to its end")
        found = tails.get(file_name(exhibit["id"]))
        yield _exhibit(exhibit, manifest, None if found is None else _tail(exhibit, manifest, found))


def tails_of(folder: Path) -> dict[str, Picture]:
    """Return the explained tails in a folder by the file names of their exhibits."""
    pictures = read_pictures(folder) if (folder / PLOTS).exists() else {}
    return {name.rpartition("-")[0]: Picture(each.plot) for name, each in pictures.items() if is_tail(each.plot)}


def _tail(document: Mapping[str, Any], manifest: Mapping[str, Any], picture: Picture) -> SummaryTail:
    title, words = words_of(picture.plot)
    return SummaryTail(
        title=title,
        words=words,
        picture=f"{file_name(document['id'])}-tail.svg",
        effort=manifest["effort"],
        commit=str(manifest.get("commit") or "not known"),
        seed=document["seeds"][0],
    )


def _exhibit(document: Mapping[str, Any], manifest: Mapping[str, Any], tail: SummaryTail | None) -> SummaryExhibit:
    made = [_row(row) for row in document["rows"]]
    kept = tuple(row for row in made if row.paper is not None or row.is_finding or _was_judged(row))
    return SummaryExhibit(
        id=document["id"],
        effort=manifest["effort"],
        commit=str(manifest.get("commit") or "not known"),
        seeds=document["seeds"],
        wall_s=round(document["wall_s"] / len(document["seeds"]), 1),
        not_judged=len(made) - len(kept),
        rows=kept,
        tail=tail,
    )


def _was_judged(row: SummaryRow) -> bool:
    """Has it, or a seed alone, a verdict? Then there is one to be told of, though seeds do not agree."""
    return row.verdict != "unjudged" or any(seen.verdict != "unjudged" for seen in row.seeds)


def _row(row: Mapping[str, Any]) -> SummaryRow:
    kept = ("series", "x", "metric", "unit", "paper", "judge", "note", "verdict")
    told = {**{name: row[name] for name in kept}, **_numbers(row)}
    return SummaryRow(**told, seeds=tuple(map(_seen, row["seeds"])))


def _seen(seen: Mapping[str, Any]) -> Measurement:
    return Measurement(seed=seen["seed"], verdict=seen["verdict"], **_numbers(seen))


def _numbers(of: Mapping[str, Any]) -> dict[str, float | None]:
    return {name: _rounded(of[name]) for name in ("measured", "ci_low", "ci_high")}


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _lines(exhibit: SummaryExhibit) -> str:
    left_out = {"rows"} if exhibit.tail is not None else {"rows", "tail"}
    head = json.dumps(exhibit.model_dump(exclude=left_out), ensure_ascii=False)
    rows = [json.dumps(row.model_dump(exclude_defaults=True), ensure_ascii=False) for row in exhibit.rows]
    return head[:-1] + ', "rows": [\n' + ",\n".join(rows) + "\n]}"
