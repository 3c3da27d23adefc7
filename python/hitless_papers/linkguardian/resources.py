"""Switch resources of LinkGuardian (section 4.6, appendix B.4): memory, stateful units, recirculation.

"With state provisioned for 256 ports, LinkGuardian requires only ~9 % of the total SRAM memory and uses ~25 % of the
available SALUs." A switch is sender and receiver: it has protected links in both directions. The paper extrapolates
3.98 % as six times the maximum of table 4, because 250 B allow six times the packet rate of full frames. Here it is
measured.
"""

from collections.abc import Iterable

from hitless.checking import Fields
from hitless_papers import Context, Exhibit, Factor, Point, Row, Runs, Unjudged, exhibit
from hitless_papers.linkguardian import testbed
from hitless_papers.linkguardian.stress import PIPELINE_PACKETS_PER_S
from hitless_papers.statement_of_resources import SRAM_BLOCKS, STATEFUL_ALUS, TABLES_TOO, Register, blocks, statement

_PORTS = 256
_REQUESTS = "reTxReqs"
_MISSING = "missing numbers"
_SMALL_BYTES = 250
_SMALL_RATES_GBPS = (25, 100)
_LOSS = 1e-3
_EXTRAPOLATED_PERCENT = 3.984


def small_frames(rate_gbps: int, packets: int) -> Fields:
    """Build 250 B frames at line rate over the protected link."""
    name, size = "small-frames", _SMALL_BYTES
    return testbed.line_rate(rate_gbps, packets, name=name, frame_bytes=size, loss=_LOSS, scheme="LG")


@exhibit("lg/resources", title="Pipeline resources of LinkGuardian")
class Resources(Exhibit):
    """Registers of both ends, and recirculation of 250 B frames."""

    def points(self, context: Context) -> Iterable[Point]:
        packets = context.length("packets of 250 B", full=20_000_000, normal=2_000_000, quick=300_000)
        for rate_gbps in _SMALL_RATES_GBPS:
            yield Point(f"{rate_gbps}G", small_frames(rate_gbps, packets), keep=("mechanisms",))

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        yield from _registers()
        for rate_gbps in _SMALL_RATES_GBPS:
            run = runs[f"{rate_gbps}G"]
            for side, switch, name in (("TX", "sw2", "copies_recirculated"), ("RX", "sw6", "packets_recirculated")):
                passes = run.counter(name, switch) / float(run.summary["simulated_s"])
                percent = 100 * passes / PIPELINE_PACKETS_PER_S
                note = "the paper extrapolates from full frames, as an upper bound for all four rows"
                paper = _EXTRAPOLATED_PERCENT if (rate_gbps, side) == (100, "RX") else None
                x, judge = f"{rate_gbps}G 1e-3, {_SMALL_BYTES} B, {side}", Factor()
                yield Row("LG", x, "recirculation overhead", "%", percent, paper, judge=judge, note=note)


def _registers() -> Iterable[Row]:
    idle = small_frames(100, 1_000)
    registers = [
        register for switch in ("sw2", "sw6") for register in statement(idle, switch, "linkguardian").registers
    ]
    alus = sum(int(register["arrays"]) for register in registers)
    inside = sum(int(register["arrays"]) for register in registers if not register["modelled_outside"])
    note = f"{alus} of 48, both ends; {inside} of them in register arrays, the rest modelled outside"
    percent = 100 * alus / STATEFUL_ALUS
    yield Row("LG", f"{_PORTS} ports", "stateful ALUs", "%", percent, 25.0, judge=Factor(), note=note)
    shared = 100 * sum(_blocks(register, is_shared=True) for register in registers) / SRAM_BLOCKS
    note = "all ports share request registers and missing numbers, like the request registers in the published program"
    yield Row("LG", f"{_PORTS} ports", "SRAM", "%", shared, 9.0, judge=Unjudged(TABLES_TOO), note=note)
    apart = 100 * sum(_blocks(register, is_shared=False) for register in registers) / SRAM_BLOCKS
    note = "each port has all registers, as in this model: more than a pipeline has"
    yield Row("LG", f"{_PORTS} ports, each its own requests", "SRAM", "%", apart, note=note)


def _blocks(register: Register, *, is_shared: bool) -> int:
    """Return the SRAM blocks of an array for all ports, which may share its cells."""
    is_indexed_by_number = register["name"].startswith((_REQUESTS, _MISSING))
    ports = 1 if is_shared and is_indexed_by_number else _PORTS
    return blocks(ports * int(register["cells"]), int(register["cell_bits"]))
