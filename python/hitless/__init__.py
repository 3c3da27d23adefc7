"""hitless: datacenter mechanisms that hide failures, simulated packet by packet.

The layers, each importing only what stands above it:

- ``_native``    the simulator, in Rust: a scenario's text in, tables out
- ``prototype``  mechanisms as Python classes
- ``simulation`` one run of it, with typed results
- ``analysis``   percentiles and confidence intervals
- ``plot``       descriptions of plots, free of any drawing library
- ``exhibits``   figures and tables of papers: what to run, and how to judge it beside the paper
- ``report``     the HTML page
- ``results``    the folder that a run leaves behind
- ``bench``      the speed of the engine
- ``extend``     mechanisms of users, compiled with the simulator
- ``cli``        the command line

A notebook needs ``hitless.run`` and, for a mechanism of its own, the other names below. They are imported when they are
first used, so that ``from hitless import _native`` costs nothing else.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from hitless import native as _native_choice

if TYPE_CHECKING:
    from hitless._native import Context as Context
    from hitless._native import DropReason as DropReason
    from hitless._native import Ecn as Ecn
    from hitless._native import Event as Event
    from hitless._native import Packet as Packet
    from hitless._native import Verdict as Verdict
    from hitless.prototype.mechanism import Counters as Counters
    from hitless.prototype.mechanism import HookSet as HookSet
    from hitless.prototype.mechanism import Mechanism as Mechanism
    from hitless.prototype.mechanism import Needs as Needs
    from hitless.prototype.mechanism import QueueConfig as QueueConfig
    from hitless.simulation import run as run

_folder = _native_choice.folder()
if _folder is not None:
    # `hitless._native` is looked for there first: all that imports it gets the module of the user's.
    __path__.insert(0, _folder)

_PLACES = {
    "hitless._native": ("Context", "DropReason", "Ecn", "Event", "Packet", "Verdict"),
    "hitless.prototype.mechanism": ("Counters", "HookSet", "Mechanism", "Needs", "QueueConfig"),
    "hitless.simulation": ("run",),
}


def __getattr__(name: str) -> Any:
    """One of the names above, from its module."""
    for module, names in _PLACES.items():
        if name in names:
            globals()[name] = getattr(import_module(module), name)  # the next use, perhaps in a hook, finds it at once
            return globals()[name]
    raise AttributeError(f"module 'hitless' has no attribute {name!r}")
