"""Where a mechanism helps, where it does no harm, and where it is refused: on links and loads that no paper has."""

from hitless.envelope.places import COARSE, FINE, Grid, Place
from hitless.envelope.systems import SYSTEMS, System
from hitless.envelope.verdicts import Cell, Colour, judged

__all__ = ["COARSE", "FINE", "SYSTEMS", "Cell", "Colour", "Grid", "Place", "System", "judged"]
