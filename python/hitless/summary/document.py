"""The summary: for each exhibit its rows, with what each seed measured, and the commit and length of the runs."""

import json
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from hitless.errors import BadInput
from hitless.exhibits.durations import read_folder
from hitless.exhibits.judge import SEVERITY, Verdict
from hitless.whole_file import read_text

_DIGITS = 5


class Measurement(BaseModel):
    """What one seed measured of a row."""

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
    """That of the first seed."""
    seeds: tuple[Measurement, ...]

    @property
    def key(self) -> tuple[str, str, str]:
        """What the row is of."""
        return self.series, self.x, self.metric

    @property
    def verdict(self) -> Verdict:
        """The worst verdict that a seed has: a row near its limit counts as one that differs."""
        given = {measurement.verdict for measurement in self.seeds}
        return next(verdict for verdict in SEVERITY if verdict in given)

    @property
    def measured(self) -> float | None:
        """The median over the seeds."""
        values = self._values
        return statistics.median(values) if values else None

    @property
    def spread(self) -> tuple[float | None, float | None] | None:
        """The least and the largest of several seeds, or the interval of one; none: it has no interval."""
        if len(self.seeds) > 1:
            values = self._values
            return (min(values), max(values)) if values else None
        only = self.seeds[0]
        return None if only.ci_low is None and only.ci_high is None else (only.ci_low, only.ci_high)

    @property
    def _values(self) -> list[float]:
        return [measurement.measured for measurement in self.seeds if measurement.measured is not None]


class SummaryExhibit(BaseModel):
    """An exhibit as it was last run."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    id: str
    effort: str
    """quick, normal or full."""
    commit: str
    """Of the program that ran it, shortened."""
    seeds: tuple[int, ...]
    wall_s: float
    """Of one seed, on average."""
    not_judged: int
    """Rows that no seed judged and for which the paper has no number: they are in the report, and not kept here."""
    rows: tuple[SummaryRow, ...]

    def row(self, key: tuple[str, str, str]) -> SummaryRow | None:
        """The row of a scheme, a setting and a metric, if it was kept."""
        return next((row for row in self.rows if row.key == key), None)

    @property
    def verdicts(self) -> Counter[Verdict]:
        """How many rows have each verdict."""
        return Counter(row.verdict for row in self.rows)

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

    def add(self, folders: Sequence[Path], order: Sequence[str]) -> list[str]:
        """Put what the folders of `hitless reproduce` found in the place of what was there; return the ids.

        Folders of one exhibit are its seeds. ``order`` is that of the exhibits in the file.

        Raises `BadInput` for a folder without results, an exhibit that is not complete, and for folders that cannot
        stand together: of one seed, or of several efforts or commits.
        """
        found: dict[str, list[_Found]] = {}
        for folder in folders:
            for one in _read_folder(folder):
                found.setdefault(one.document["id"], []).append(one)
        added = {name: _combined(ones) for name, ones in found.items()}
        kept = {exhibit.id: exhibit for exhibit in self.exhibits} | added
        place = {name: number for number, name in enumerate(order)}
        self.exhibits = sorted(kept.values(), key=lambda exhibit: place.get(exhibit.id, len(place)))
        return list(added)


class _Found:
    """An exhibit in a folder."""

    def __init__(self, folder: Path, document: Mapping[str, Any], manifest: Mapping[str, Any]) -> None:
        self.folder = folder
        self.document = document
        self.effort = str(manifest["effort"])
        self.commit = str(manifest.get("commit") or "not known")


def _read_folder(folder: Path) -> Iterable[_Found]:
    document, manifest = read_folder(folder)
    for exhibit in document["exhibits"]:
        if exhibit["id"] in manifest["incomplete"]:
            raise BadInput(f"{exhibit['id']} is not complete", where=str(folder), hint="run it again, to its end")
        yield _Found(folder, exhibit, manifest)


def _combined(ones: Sequence[_Found]) -> SummaryExhibit:
    name, seeds = ones[0].document["id"], [one.document["seed"] for one in ones]
    _require_one(name, ones)
    rows: dict[tuple[str, ...], list[tuple[int, Mapping[str, Any]]]] = {}
    for one in sorted(ones, key=lambda one: one.document["seed"]):
        times: Counter[tuple[str, ...]] = Counter()
        for row in one.document["rows"]:
            key = (row["series"], row["x"], row["metric"])
            times[key] += 1
            rows.setdefault((*key, str(times[key])), []).append((one.document["seed"], row))
    made = [_row(given) for given in rows.values()]
    kept = tuple(row for row in made if row.paper is not None or row.verdict != "unjudged")
    return SummaryExhibit(
        id=name,
        effort=ones[0].effort,
        commit=ones[0].commit,
        seeds=tuple(sorted(seeds)),
        wall_s=round(statistics.fmean(one.document["wall_s"] for one in ones), 1),
        not_judged=len(made) - len(kept),
        rows=kept,
    )


def _require_one(name: str, ones: Sequence[_Found]) -> None:
    """Refuse folders of which one exhibit cannot be made."""
    seeds = Counter(one.document["seed"] for one in ones)
    wrong = [f"seed {seed} twice" for seed, times in seeds.items() if times > 1]
    for what, values in (("efforts", {one.effort for one in ones}), ("commits", {one.commit for one in ones})):
        wrong += [f"several {what} ({', '.join(sorted(values))})"] * (len(values) > 1)
    if wrong:
        hint = "each folder is a seed of its own; effort and commit are the same in all"
        where = ", ".join(str(one.folder) for one in ones)
        raise BadInput(f"{name} has {' and '.join(wrong)}", where=where, hint=hint)


def _row(given: Sequence[tuple[int, Mapping[str, Any]]]) -> SummaryRow:
    first = given[0][1]
    judges = [row["judge"] for _, row in given if row["judge"] != "none"]
    return SummaryRow(
        **{name: first[name] for name in ("series", "x", "metric", "unit", "note")},
        paper=next((row["paper"] for _, row in given if row["paper"] is not None), None),
        judge=judges[0] if judges else "none",
        seeds=tuple(
            Measurement(
                seed=seed,
                measured=_rounded(row["measured"]),
                ci_low=_rounded(row["ci_low"]),
                ci_high=_rounded(row["ci_high"]),
                verdict=row["verdict"],
            )
            for seed, row in given
        ),
    )


def _rounded(value: float | None) -> float | None:
    return None if value is None else float(f"{value:.{_DIGITS}g}")


def _lines(exhibit: SummaryExhibit) -> str:
    """An exhibit as JSON with a row a line."""
    head = json.dumps(exhibit.model_dump(exclude={"rows"}), ensure_ascii=False)
    rows = [json.dumps(row.model_dump(exclude_defaults=True), ensure_ascii=False) for row in exhibit.rows]
    return head[:-1] + ', "rows": [\n' + ",\n".join(rows) + "\n]}"
