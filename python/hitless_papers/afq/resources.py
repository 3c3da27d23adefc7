"""Switch resources of AFQ (table 1).

The paper's compiler reports a program with and without AFQ. Both of its sketches are for one port here: the paper does
not give the number of ports. The two variants differ in their counters alone, so their difference is judged.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from hitless.checking import Fields
from hitless_papers import Context, Exhibit, Factor, Row, Runs, Unjudged, exhibit
from hitless_papers.scenarios import graph
from hitless_papers.statement_of_resources import TABLES_TOO, Statement, statement

_BLOCKS = "SRAM (blocks of 16 KiB)"
_SKETCHES: Mapping[str, tuple[int, int]] = {"AFQ": (2, 2_048), "AFQ-Large": (3, 16_384)}
_PAPER_STAGES = 12 - 9
_PAPER_SRAM: Mapping[str, int] = {"AFQ": 178 - 165, "AFQ-Large": 190 - 165}
_SIMULATED_PORTS = 36
"""Of a leaf of section 6.2: 32 hosts and 4 spines, each port with a sketch of 2 x 16,384."""


def scenario(rows: int, columns: int, hosts: int = 2) -> Fields:
    """One switch with a port for each host; with two hosts AFQ runs at one port, otherwise at all."""
    names = [f"h{number}" for number in range(hosts)]
    ports: dict[str, Any] = {"ports": ["leaf->h1"]} if hosts == 2 else {}
    return {
        "name": "afq-resources",
        "topology": graph(names, ["leaf"], [(name, "leaf", 10) for name in names]),
        "switch": {"preset": "tofino-like"},
        "mechanism": [{"kind": "afq", "queues": 32, "sketch": {"rows": rows, "columns": columns}, **ports}],
    }


@exhibit("afq/tab1", title="What AFQ takes of a switch")
class Table1(Exhibit):
    """Stages and memory of the sketch, compared with the compiler's additional ones."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        stated = {name: statement(scenario(*sketch), "leaf", "afq") for name, sketch in _SKETCHES.items()}
        for name, of in stated.items():
            x = "sketch {} x {:,}".format(*_SKETCHES[name])
            yield from self._variant(name, x, of)
        more = stated["AFQ-Large"].takes[_BLOCKS] - stated["AFQ"].takes[_BLOCKS]
        paper = _PAPER_SRAM["AFQ-Large"] - _PAPER_SRAM["AFQ"]
        note = "the counters alone: 32 bits each, one block more for each row than it fills, taken for the paper's unit"
        yield Row("AFQ-Large", "over AFQ", "SRAM", "blocks", more, paper, judge=Factor(), note=note)
        yield from self._leaf()

    def _variant(self, name: str, x: str, of: Statement) -> Iterable[Row]:
        why = Unjudged(TABLES_TOO)
        stages, sram = of.takes["stages of ingress"], of.takes[_BLOCKS]
        note = "one for the round and one for each row"
        yield Row(name, x, "stages over the baseline", "", stages, _PAPER_STAGES, judge=why, note=note)
        yield Row(name, x, "SRAM over the baseline", "blocks", sram, _PAPER_SRAM[name], judge=why)
        no_number = Unjudged("the paper's 7 are instructions of all kinds")
        yield Row(name, x, "stateful ALUs", "", of.takes["stateful ALUs"], 90 - 83, judge=no_number)

    def _leaf(self) -> Iterable[Row]:
        leaf = statement(scenario(2, 16_384, _SIMULATED_PORTS), "leaf", "afq")
        x = f"2 x 16,384 at each of {_SIMULATED_PORTS} ports"
        note = "the simulations' sketch; a row is one array, and a stage has 48 blocks: no Tofino holds it"
        largest = max(int(row["blocks"]) for row in leaf.registers)
        yield Row("AFQ", x, "SRAM of one row", "blocks", largest, note=note)
        yield Row("AFQ", x, "SRAM", "blocks", leaf.takes[_BLOCKS], note="a pipeline has 12 x 48 for registers")
