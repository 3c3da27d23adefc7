"""Pipeline stages of Simple and Preemptive Deflection: "8, 11 and 2 processing stages" of 12 (section 4.2).

The paper counts whole programs with their tables. Our minimum counts the state only: a packet that reads several queues
in one pass needs several registers, and a stage accesses four. A minimum far below the paper's number neither confirms
nor refutes it, so there is no verdict.
"""

from collections.abc import Iterable, Mapping

from hitless.checking import Fields
from hitless_papers import Context, Exhibit, Row, Runs, Unjudged, exhibit
from hitless_papers.deflection import testbed
from hitless_papers.statement_of_resources import TABLES_TOO, Statement, statement

_PAPER_STAGES: Mapping[str, int] = {"Simple": 8, "Quantile-PD": 11, "Distribution-PD": 2}
_SCHEMES: Mapping[str, testbed.Scheme] = {
    "Simple": testbed.SIMPLE,
    "Quantile-PD": testbed.QUANTILE,
    "Distribution-PD": testbed.DISTRIBUTION,
}
"""By the paper's names: what they take does not hang on alpha."""
_WINDOW = "window of ranks"
_ENTRIES = 20
_PAPER_WINDOW_STAGES = 8
"""The quantile takes "4 times" the two stages of the distribution (section 4.2)."""


def scenario(scheme: testbed.Scheme) -> Fields:
    return testbed.scenario(scheme, 1, {}, [])


@exhibit("pd/resources", title="Stages that deflection takes of a pipeline")
class Resources(Exhibit):
    """The minimum number of stages for the state, compared with the programs."""

    def rows(self, runs: Runs, context: Context) -> Iterable[Row]:
        stated = {
            name: statement(scenario(scheme), testbed.NEAR, str(scheme.mechanism["kind"]))
            for name, scheme in _SCHEMES.items()
        }
        for name, of in stated.items():
            yield self._stages(name, of)
        quantile = stated["Quantile-PD"].registers
        window = max(int(register["arrays"]) for register in quantile if register["name"] == _WINDOW)
        once = -(-_ENTRIES // 4)
        bound = Unjudged("the program's stages are those of the comparisons and sums too")
        note = f"5 x 4 registers, as in the published program; ours reads {window}, of two queues' windows"
        x = f"window of {_ENTRIES}"
        yield Row("Quantile-PD", x, "stages of the window", "", once, _PAPER_WINDOW_STAGES, judge=bound, note=note)
        for name, of in stated.items():
            yield Row(name, "testbed", "stateful ALUs", "", of.takes["stateful ALUs"])
            yield Row(name, "testbed", "SRAM", "bits", of.takes["SRAM (bits)"], note="modelled outside register arrays")
            ports = of.takes["recirculation ports"]
            yield Row(name, "testbed", "recirculation ports", "", ports, note="control packets; pd/fig16 measures them")

    def _stages(self, name: str, of: Statement) -> Row:
        stages, paper = of.takes["stages of ingress"], _PAPER_STAGES[name]
        window = "ours has a window for each queue and reads two of them, the program one for all ports"
        note = window if name == "Quantile-PD" else ""
        why = Unjudged(TABLES_TOO)
        return Row(name, "testbed", "least stages of ingress", "", stages, paper, judge=why, note=note)
