"""Measured durations of exhibits: ``durations.json``, which ``hitless results durations`` refreshes.

Kept are processor seconds, which other programs on the machine hardly lengthen, and those of the longest point, below
which no number of cores goes.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from hitless.errors import BadInput
from hitless.whole_file import text_of

FILE = Path(__file__).with_name("durations.json")


@dataclass(frozen=True, slots=True)
class Duration:
    """Of one exhibit at one effort."""

    cpu_s: float
    longest_s: float

    def on(self, cores: int) -> float:
        """Return the seconds on this number of idle cores."""
        return max(self.longest_s, self.cpu_s / cores)


@cache
def known(path: Path = FILE) -> Mapping[tuple[str, str], Duration]:
    """By exhibit and effort."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {(name, effort): Duration(*times) for name, efforts in document.items() for effort, times in efforts.items()}


def estimate(seeds: Mapping[str, int], effort: str, cores: int) -> float | None:
    """Return the seconds for all exhibits with their numbers of seeds; None if one of them was never measured."""
    found = {name: known().get((name, effort)) for name in seeds}
    measured = [(duration, seeds[name]) for name, duration in found.items() if duration is not None]
    if not measured or len(measured) < len(found):
        return None
    longest_s = max(one.longest_s for one, _ in measured)
    return max(sum(one.cpu_s * count for one, count in measured) / cores, longest_s)


def refresh(folders: Sequence[Path], path: Path = FILE) -> list[str]:
    """Put what the folders of `hitless reproduce` measured in the place of what was there; return the ids.

    Raises `BadInput` for a folder without results. Exhibits that are not complete are left out, and so are points that
    were kept from an earlier run, which took no time.
    """
    durations = dict(known(path))
    added: dict[str, None] = {}
    for folder in folders:
        for name, effort, duration in _measured(folder):
            durations[name, effort] = duration
            added[name] = None
    document: dict[str, dict[str, list[float]]] = {}
    for (name, effort), one in sorted(durations.items()):
        document.setdefault(name, {})[effort] = [one.cpu_s, one.longest_s]
    lines = [f"{json.dumps(name)}: {json.dumps(efforts)}" for name, efforts in document.items()]
    path.write_text("{\n" + ",\n".join(lines) + "\n}\n", encoding="utf-8")
    known.cache_clear()
    return list(added)


def read_folder(folder: Path) -> tuple[dict[str, Any], dict[str, Any]]:
    """What `hitless reproduce` found, and how it ran. Raises `BadInput` for a folder without results."""
    try:
        summary, manifest = (json.loads(text_of(folder / f"{name}.json")) for name in ("summary", "manifest"))
    except (OSError, ValueError) as missing:
        hint = "name a folder that hitless reproduce has written"
        raise BadInput("there are no results of hitless reproduce", where=str(folder), hint=hint) from missing
    return summary, manifest


def _measured(folder: Path) -> Iterable[tuple[str, str, Duration]]:
    summary, manifest = read_folder(folder)
    for exhibit in summary["exhibits"]:
        name = exhibit["id"]
        runs = [run for run in manifest["runs"] if run["name"].startswith(f"{name} ")]
        if name not in manifest["incomplete"] and not any(run.get("was_kept") for run in runs):
            yield name, manifest["effort"], _of(runs, len(exhibit["seeds"]))


def _of(runs: Sequence[Mapping[str, Any]], seeds: int) -> Duration:
    """Of one seed, on average."""
    times = [float(run["cpu_s"]) for run in runs]
    return Duration(round(sum(times) / seeds, 1), round(max(times, default=0.0), 1))


def in_words(seconds: float) -> str:
    """A duration as people say it: "4 s", "12 min", "3 h"."""
    if seconds < 100:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.0f} h"
