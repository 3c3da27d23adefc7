"""Map of the effect of a mechanism (helps, does no harm, is refused) on links and loads beyond the papers'."""

from hitless.envelope.own import TROUBLES, system_of
from hitless.envelope.places import COARSE, FINE, Grid, Place, RandomPlaces
from hitless.envelope.systems import SYSTEMS, System
from hitless.envelope.verdicts import Cell, Colour, judged

__all__ = [
    "COARSE",
    "FINE",
    "SYSTEMS",
    "TROUBLES",
    "Cell",
    "Colour",
    "Grid",
    "Place",
    "RandomPlaces",
    "System",
    "judged",
    "system_of",
]
