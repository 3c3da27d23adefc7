"""Figures and tables of papers: a package for each paper, and their framework.

An exhibit is a class that defines its runs and compares their numbers with the paper's::

    @exhibit("lg/fig8", title="Effective loss rate and link speed", headline=True)
    class Figure8(Exhibit):
        def points(self, context):
            packets = context.length("packets", full=100_000_000, quick=2_000_000)
            yield Point("LG 100G", {...})  # a scenario, or other work such as years of a simulated fleet

        def rows(self, runs, context):
            speed = runs["LG 100G"].summary["links.protected.goodput_share"]
            yield Row("LG", "100G 1e-3", "link speed", "%", 100 * speed, paper=92, judge=Exact())

- ``model``: rows, exhibits; ``estimates``: numbers with their intervals; ``judge``, ``statements``: verdicts
- ``tails``: the tail of completion times without and with a system, divided into parts
- ``registry``: the list of papers
- ``campaign``, ``seeds``: runs exhibits with several seeds
- ``answer``, ``page``, ``summary``: the first screen, the report, and the tables on the evidence pages
"""

from hitless.runs.point import Point, Runs
from hitless_papers.judge import Exact, Factor, Finding, Gain, Range, Unjudged
from hitless_papers.model import Context, Exhibit, Parts, Replicated, Row, Share, Tail
from hitless_papers.registry import exhibit
from hitless_papers.statements import Shape, above_one, at_least, at_most, close, falling, rising

__all__ = [
    "Context",
    "Exact",
    "Exhibit",
    "Factor",
    "Finding",
    "Gain",
    "Parts",
    "Point",
    "Range",
    "Replicated",
    "Row",
    "Runs",
    "Shape",
    "Share",
    "Tail",
    "Unjudged",
    "above_one",
    "at_least",
    "at_most",
    "close",
    "exhibit",
    "falling",
    "rising",
]
