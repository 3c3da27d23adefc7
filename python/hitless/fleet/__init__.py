"""A fleet of links over a year: which corrupt, are taken down, protected and repaired.

- ``year``: topologies, traces and years, as the native module has them
- ``tables``: the published columns, and a year written in them
- ``statistics``: gain, means over time, and what figures 15 and 16 of LinkGuardian show
- ``comparison``: several policies in the same years, as work for a pool of threads
"""

from hitless.fleet.comparison import Comparison
from hitless.fleet.year import Hazard

__all__ = ["Comparison", "Hazard"]
