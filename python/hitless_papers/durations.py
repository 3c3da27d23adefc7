"""Measured durations of exhibits: ``durations.json``, which ``hitless results durations`` refreshes.

The file has the processor seconds of an exhibit, because other programs on the machine hardly change them, and of its
longest point, because more cores cannot shorten that.
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
    """Processor seconds of an exhibit at one effort."""

    cpu_s: float
    longest_s: float

    def on(self, cores: int) -> float:
        """Return the seconds on this number of idle cores."""
        return max(self.longest_s, self.cpu_s / cores)


@cache
def known(path: Path = FILE) -> Mapping[tuple[str, str], Duration]:
    """Return the measured durations by exhibit and effort."""
    if not path.exists():
        return {}
    document = json.loads(path.read_text(encoding="utf-8"))
    return {(name, effort): Duration(*times) for name, efforts in document.items() for effort, times in efforts.items()}


def estimate(seeds: Mapping[str, int], effort: str, cores: int) -> float | None:
    """Return the seconds for these exhibits and numbers of seeds; None if one exhibit was never measured."""
    found = {name: known().get((name, effort)) for name in seeds}
    measured = [(duration, seeds[name]) for name, duration in found.items() if duration is not None]
    if not measured or len(measured) < len(found):
        return None
    longest_s = max(one.longest_s for one, _ in measured)
    return max(sum(one.cpu_s * count for one, count in measured) / cores, longest_s)


def refresh(folders: Sequence[Path], path: Path = FILE) -> list[str]:
    """Replace durations by the times in the folders of `hitless reproduce`; return the ids of the exhibits.

    Incomplete exhibits are skipped, and so are exhibits with points from an earlier run, because those took no time.

    Raises `BadInput` for a folder without results.
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
    """Return summary and manifest of `hitless reproduce`. Raises `BadInput` for a folder without results."""
    try:
        summary, manifest = (json.loads(text_of(folder / f"{name}.json")) for name in ("summary", "manifest"))
    except (OSError, ValueError) as missing:
        hint = "name a folder that hitless reproduce has written"
        raise BadInput("the folder has no results of hitless reproduce", where=str(folder), hint=hint) from missing
    return summary, manifest


def _measured(folder: Path) -> Iterable[tuple[str, str, Duration]]:
    summary, manifest = read_folder(folder)
    for exhibit in summary["exhibits"]:
        name = exhibit["id"]
        runs = [run for run in manifest["runs"] if run["name"].startswith(f"{name} ")]
        if name not in manifest["incomplete"] and not any(run.get("was_kept") for run in runs):
            yield name, manifest["effort"], _of(runs, len(exhibit["seeds"]))


def _of(runs: Sequence[Mapping[str, Any]], seeds: int) -> Duration:
    times = [float(run["cpu_s"]) for run in runs]
    return Duration(round(sum(times) / seeds, 1), round(max(times, default=0.0), 1))


def in_words(seconds: float) -> str:
    """Format a duration: "4 s", "12 min", "3 h"."""
    if seconds < 100:
        return f"{max(1.0, seconds):.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.0f} h"
