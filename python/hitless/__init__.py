"""hitless: datacenter mechanisms that hide failures, simulated packet by packet.

The main layers, in import order: each imports only layers above it (`scripts/layers` has the complete list):

- ``_native``    the simulator, in Rust: a scenario's text in, tables out
- ``prototype``  mechanisms and congestion controls as Python classes
- ``analysis``   percentiles and confidence intervals
- ``drawing``    descriptions of plots, and plots as SVG
- ``outcome``    the results of a run, in the quantities that people ask for
- ``simulation`` one run of the simulator
- ``steps``      a run in steps, with commands
- ``scenario``   a scenario as a value, for Python
- ``runs``       runs in parallel, on one machine or many, and finished runs on disk
- ``results``    the folder that a run leaves behind
- ``report``     the HTML page
- ``comparison`` two scenarios with the same seeds
- ``sweeps``     a scenario over a grid of settings and seeds
- ``cli``        the command line

The package ``hitless_papers`` is on top: figures and tables of papers.

The names below are the public API, explained in `docs/reference/python.md`. They are imported lazily, so ``import
hitless`` is fast.
"""

from importlib import import_module

from hitless import native as _native_choice

TYPE_CHECKING = False  # type checkers know the name; `typing` would take most of the time before Ctrl-C is handled
if TYPE_CHECKING:
    from typing import Any

    from hitless import types as types

    __version__: str
    from hitless._native import Ack as Ack
    from hitless._native import Context as Context
    from hitless._native import DropReason as DropReason
    from hitless._native import Ecn as Ecn
    from hitless._native import Event as Event
    from hitless._native import Packet as Packet
    from hitless._native import QueueAccess as QueueAccess
    from hitless._native import Verdict as Verdict
    from hitless.analysis import Certainty as Certainty
    from hitless.analysis import Interval as Interval
    from hitless.analysis import mean_in_order as mean_in_order
    from hitless.analysis import mean_interval as mean_interval
    from hitless.analysis import mean_over_seeds as mean_over_seeds
    from hitless.analysis import paired_ratio as paired_ratio
    from hitless.analysis import percentile as percentile
    from hitless.analysis import percentile_in_order as percentile_in_order
    from hitless.analysis import percentile_interval as percentile_interval
    from hitless.analysis import percentile_ratio as percentile_ratio
    from hitless.analysis import poisson_interval as poisson_interval
    from hitless.analysis import proportion_interval as proportion_interval
    from hitless.comparison import Comparison as Comparison
    from hitless.comparison import compare as compare
    from hitless.drawing.picture import Picture as Picture
    from hitless.errors import BadInput as BadInput
    from hitless.errors import HitlessError as HitlessError
    from hitless.errors import MechanismFailed as MechanismFailed
    from hitless.errors import RefusedScenario as RefusedScenario
    from hitless.errors import RunWarning as RunWarning
    from hitless.outcome.run import Run as Run
    from hitless.outcome.run import RunStopped as RunStopped
    from hitless.outcome.run import Summary as Summary
    from hitless.prototype.mechanism import Counters as Counters
    from hitless.prototype.mechanism import HookSet as HookSet
    from hitless.prototype.mechanism import Mechanism as Mechanism
    from hitless.prototype.mechanism import Needs as Needs
    from hitless.prototype.mechanism import QueueConfig as QueueConfig
    from hitless.prototype.transport import Transport as Transport
    from hitless.runs.executors import RayExecutor as RayExecutor
    from hitless.scenario import Scenario as Scenario
    from hitless.scenario import example as example
    from hitless.scenario import examples as examples
    from hitless.scenario import run as run
    from hitless.steps import Steps as Steps
    from hitless.sweeps import Swept as Swept
    from hitless.sweeps import sweep as sweep

_folder = _native_choice.folder()
if _folder is not None:
    # `hitless._native` is searched there first: everything that imports it gets the user's module.
    __path__.insert(0, _folder)

_PLACES = {
    "hitless._native": ("Ack", "Context", "DropReason", "Ecn", "Event", "Packet", "QueueAccess", "Verdict"),
    "hitless.analysis": (
        "Certainty",
        "Interval",
        "mean_in_order",
        "mean_interval",
        "mean_over_seeds",
        "paired_ratio",
        "percentile",
        "percentile_in_order",
        "percentile_interval",
        "percentile_ratio",
        "poisson_interval",
        "proportion_interval",
    ),
    "hitless.comparison": ("Comparison", "compare"),
    "hitless.errors": ("BadInput", "HitlessError", "MechanismFailed", "RefusedScenario", "RunWarning"),
    "hitless.runs.executors": ("RayExecutor",),
    "hitless.outcome.run": ("Run", "RunStopped", "Summary"),
    "hitless.prototype.mechanism": ("Counters", "HookSet", "Mechanism", "Needs", "QueueConfig"),
    "hitless.prototype.transport": ("Transport",),
    "hitless.drawing.picture": ("Picture",),
    "hitless.scenario": ("Scenario", "example", "examples", "run"),
    "hitless.steps": ("Steps",),
    "hitless.sweeps": ("Swept", "sweep"),
}
_MODULE_OF = {name: module for module, names in _PLACES.items() for name in names}
PUBLIC = (*_MODULE_OF, "types")
"""The public API; a test compares it with tests/simulator/public_surface.txt."""


def __getattr__(name: str) -> "Any":
    """Import one of the names above from its module."""
    if name == "types":
        try:
            return import_module("hitless.types")
        except ModuleNotFoundError as missing:
            raise ImportError(
                "hitless was built without hitless.types: scripts/scenario-types --write adds it to a checkout, and "
                "pip adds it to each wheel"
            ) from missing
    if name == "__version__":
        return import_module("hitless._native").version()
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'hitless' has no attribute {name!r}")
    globals()[name] = getattr(
        import_module(_MODULE_OF[name]), name
    )  # the next use, perhaps in a hook, finds it at once
    return globals()[name]


def __dir__() -> list[str]:
    """Return the public names, for an editor or a notebook to complete."""
    return sorted([*PUBLIC, "__version__"])
