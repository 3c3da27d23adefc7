"""Reactions of switches to full or filling queues."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

from hitless_papers.judge import Direction

Marking = Literal["remaining-bytes", "attained-service"]


@dataclass(frozen=True, slots=True)
class Scheme:
    """A scheme, with the other changes of the published evaluation."""

    name: str
    """As the paper calls it."""
    mechanism: Mapping[str, Any] | None = None
    marking: Marking | None = None
    """By what hosts mark their packets, for switches that look at it."""
    spreads: bool = False
    """Did its published configuration forward each packet by the power of two choices? The others hash flows."""
    restores_order: bool = False
    """Did hosts run the reorder buffer?"""
    has_flowlets: bool = False
    """Do pauses end flowlets in the priority tagger? After as long as the reorder buffer waits (the authors' delta)."""
    fast_retransmit: bool = True

    def with_mechanism(self, name: str, **changes: Any) -> "Scheme":
        """The scheme with another name and other settings of its mechanism."""
        return replace(self, name=name, mechanism={**(self.mechanism or {}), **changes})


ECMP = Scheme("ECMP")
NAIVE = Scheme("naive deflection", {"kind": "dibs", "to_full_ports": True}, fast_retransmit=False)
DIBS = Scheme("DIBS", {"kind": "dibs"}, fast_retransmit=False)
SIMPLE = Scheme("Simple", {"kind": "simple-deflection"}, fast_retransmit=False)
"""Simple Deflection (section 3.1)."""
VERTIGO = Scheme("Vertigo", {"kind": "vertigo"}, "remaining-bytes", spreads=True, restores_order=True)
"""Selective deflection (Abdous et al., CoNEXT 2021)."""
AIFO = Scheme("AIFO", {"kind": "aifo"}, "remaining-bytes")
"""Retransmissions have no boost: the authors' queues halve ranks only where packets are deflected."""
PABO = Scheme("PABO", {"kind": "pabo"}, fast_retransmit=False)
TRIMMING = Scheme("trimming", {"kind": "trimming"})

WINDOW = 20
SAMPLE_EVERY = 20
"""Window and sampling of section 5.2."""
ALPHA = 0.1
MINIMUM_THRESHOLD = "75 KB"
"""Of the probabilistic variant; the authors' simulator (the paper: "set according to" DCTCP)."""


def quantile(window: int = WINDOW, sample_every: int = SAMPLE_EVERY) -> Mapping[str, Any]:
    """Relative priority as the authors' simulator computes it: in a window of evaluated packets, over its full size."""
    return {
        "kind": "quantile",
        "window": window,
        "sample_every": sample_every,
        "of": "evaluated",
        "divide_by": "window",
    }


QUANTILE = Scheme(
    "Quantile-PD",
    {
        "kind": "preemptive-deflection",
        "relative_priority": quantile(),
        "alpha": ALPHA,
        "candidates": 2,
        "draw_own_port": True,
        "to_arrival_port": True,
    },
    "remaining-bytes",
    spreads=True,
    restores_order=True,
)
"""Preemptive Deflection (section 3.2); "PD" in the paper's text is this one."""
DISTRIBUTION = QUANTILE.with_mechanism(
    "Distribution-PD", relative_priority={"kind": "distribution", "mean": "exact", "arithmetic": "exact"}
)
LAS = replace(QUANTILE, name="Quantile-PD, LAS", marking="attained-service", has_flowlets=True)
"""Priority by attained service, which needs no flow sizes (appendix A). Bytes that a flow sent before a pause do not
count (the authors' marking layer)."""

COMPARED = (ECMP, AIFO, DIBS, VERTIGO, SIMPLE, QUANTILE, DISTRIBUTION)
"""Those of figure 6."""
_OWN = (SIMPLE, QUANTILE, DISTRIBUTION, LAS)


def claimed(direction: Direction, scheme: Scheme) -> Direction | None:
    """Return the direction for the paper's own schemes; rivals get no verdict "beyond"."""
    return direction if scheme in _OWN else None


@dataclass(frozen=True, slots=True)
class Preset:
    """Differences between schemes other than their reaction to full queues."""

    name: Literal["paper", "fair"]
    note: str = ""


PAPER = Preset("paper")
"""As the published evaluation did it: each scheme with its own forwarding, ordering and fast retransmit."""
FAIR = Preset("fair", "the same forwarding, transport and reorder buffer for all schemes")
"""All schemes spread packets over two choices and restore order at the hosts; all retransmit fast."""


def under(scheme: Scheme, preset: Preset) -> Scheme:
    if preset is PAPER:
        return scheme
    marking: Marking = scheme.marking or "remaining-bytes"
    return replace(scheme, marking=marking, spreads=True, restores_order=True, fast_retransmit=True)
