"""A fleet of links over a year: links corrupt frames, and are taken down, protected and repaired."""

from hitless.fleet.comparison import Comparison
from hitless.fleet.year import Hazard

__all__ = ["Comparison", "Hazard"]
