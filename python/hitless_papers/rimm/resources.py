"""State of RIMM (section V): "4n + 32K bytes" for a switch with n ports and 4K flow slots.

Table 2 compares schemes in words ("in-network solution: yes") and by reaction time, a round trip to a neighbour,
without a number. `rimm/tab3` measures its effect.
"""

from collections.abc import Iterable

from hitless_papers import Context, Exact, Exhibit, Row, Runs, Unjudged, exhibit
from hitless_papers.rimm import testbed
from hitless_papers.statement_of_resources import statement

_SLOTS = 4_096
_LEAF = "S2-3"
_NEIGHBOURS = len(testbed.SPINES)
"""Ports with an entry in the QDM table; "those to hosts are NULL" (section III-A2)."""
_PAPER_BYTES = 32 * 1024
_OWN_COUNT = Unjudged("n is counted here, so 4n is not a number of the paper")


@exhibit("rimm/tab2", title="Memory that RIMM takes: 4n + 32K bytes")
class Table2(Exhibit):
    """The state that the paper counts, and all state.

    The number of ports is chosen here, so the term 4n is not judged.
    """

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        of = statement(testbed.scenario("resources", [], testbed.RIMM, settles=False), _LEAF, "rimm")
        x = f"n = {_NEIGHBOURS}, {_SLOTS:,} slots"
        depths = (of.field_bits("QDM", "depth_segments") + of.field_bits("QDM", "own_segments")) / 8
        note = "two depths for each port to a switch"
        yield Row("RIMM", x, "queue depths", "bytes", depths, judge=_OWN_COUNT, note=f"{note}; 4n: {4 * _NEIGHBOURS}")
        numbers = (of.field_bits("S_f", "number") + of.bits(lambda register: bool(register["name"] == "S_a"))) / 8
        yield Row("RIMM", x, "sequence numbers", "bytes", numbers, _PAPER_BYTES, judge=Exact(), note="S_f and S_a")
        why = Unjudged(
            "ours includes alarms, the time of each reported depth, and each slot's neighbour, detour and waiting "
            "times; the paper's rules for ending a detour need times too, but it does not count them"
        )
        yield Row("RIMM", x, "all state", "bytes", of.bits() / 8, judge=why)
        for name in ("stages of ingress", "stages of egress", "stateful ALUs", "SRAM (blocks of 16 KiB)"):
            yield Row("RIMM", x, name, "", of.takes[name])
