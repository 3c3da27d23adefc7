"""A fleet of links over a year: links corrupt frames, and are taken down, protected and repaired.

- ``year``: topologies, traces and years of the native module
- ``tables``: the published columns, and a year written in them
- ``statistics``: gain, means over time, and the data of figures 15 and 16 of LinkGuardian
- ``comparison``: several policies in the same years, as work for a pool of threads
"""

from hitless.fleet.comparison import Comparison
from hitless.fleet.year import Hazard

__all__ = ["Comparison", "Hazard"]
