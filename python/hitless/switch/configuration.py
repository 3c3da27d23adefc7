"""The configuration of `hitless switch`: which scenario, and which of its nodes are behind which interface."""

from collections import Counter
from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import Field, model_validator

from hitless.errors import BadInput
from hitless.lab.plan import INTERFACE_NAME_BYTES
from hitless.live import LiveScenario, Mode, check_live
from hitless.service import metrics as service_metrics
from hitless.service.configuration import Checked, File, parse
from hitless.suggest import did_you_mean
from hitless.whole_file import read_text

InterfaceName = Annotated[str, Field(min_length=1, max_length=INTERFACE_NAME_BYTES, pattern=r"^[^/\s]+$")]


class Main(Checked):
    """``[switch]``."""

    scenario: File
    """Relative to the folder of this file."""
    strict: bool = False
    """Exit with 1 when a deadline was missed."""
    slack_us: Annotated[float, Field(ge=1.0, le=1e6)] = 1_000.0
    """Later than this is a missed deadline."""
    busy_poll: bool = False
    """Never sleep: a processor of its own, and the least jitter."""
    mode: Mode = "packet"
    """How frames cross to the kernel at each interface."""
    results: File | None = None
    """A new folder for tables, summary and manifest, written at the end; relative to the folder of this file."""


class Metrics(service_metrics.Metrics):
    """``[metrics]``."""

    port: service_metrics.PortNumber = 9_471


class Interface(Checked):
    """``[[interface]]``: a node of the scenario that is real, and the interface behind which it is."""

    node: Annotated[str, Field(min_length=1, max_length=256)]
    """A host, a switch that runs elsewhere, or a link to such a switch where several lead there."""
    name: InterfaceName
    offloads: Literal["switch-off", "leave"] = "switch-off"
    """What is done with offloads that merge or split frames; they are switched on again at the end."""


class Config(Checked):
    """The whole file."""

    switch: Main
    interface: Annotated[list[Interface], Field(min_length=1)]
    metrics: Metrics = Metrics()

    @model_validator(mode="after")
    def _names_each_once(self) -> Self:
        for field in ("node", "name"):
            [(value, count)] = Counter(getattr(entry, field) for entry in self.interface).most_common(1)
            if count > 1:
                raise ValueError(f"[[interface]] has {field} = {value!r} {count} times")
        return self

    @property
    def interfaces(self) -> dict[str, str]:
        """Node -> interface."""
        return {entry.node: entry.name for entry in self.interface}


def read_config(path: Path) -> tuple[Config, LiveScenario]:
    """The configuration in a file, and the scenario that it names. Raises `BadInput` with all that is wrong."""
    config = parse(Config, read_text(path), str(path), hint="hitless switch --example prints a file to begin with")
    file = path.parent / config.switch.scenario
    scenario = check_live(read_text(file), str(file))
    _require_nodes(config, scenario, str(path))
    return config, scenario


def _require_nodes(config: Config, scenario: LiveScenario, where: str) -> None:
    """Are there such nodes? Which links they leave open, the fabric tells."""
    names = [link[way] for link in scenario.links for way in ("name", "reverse")]
    known = [*scenario.hosts, *scenario.switches]
    for entry in config.interface:
        if entry.node not in known and entry.node not in names:
            raise BadInput(
                f"interface.node = {entry.node!r}: the scenario has no such node",
                where=where,
                hint=did_you_mean(entry.node, known, "its nodes"),
            )


EXAMPLE = """\
# A switch on the interfaces of this box: hitless switch FILE

[switch]
scenario = "fabric.toml"        # relative to this file: hitless scenario example lossy-link > fabric.toml
# strict = true                 # exit with 1 when a deadline was missed
# slack_us = 1000.0             # later than this is a missed deadline
# mode = "auto"                 # AF_XDP where it works, instead of AF_PACKET
# busy_poll = true              # a processor of its own, and the least jitter
# results = "results"           # a new folder for tables and counts, written at the end

[metrics]
port = 9471                     # http://127.0.0.1:9471/metrics; 0 for none

[[interface]]
node = "h1"                     # this host of the scenario
name = "eth1"                   # is behind this interface
# offloads = "leave"            # or "switch-off" while the switch runs, the default

[[interface]]
node = "h2"
name = "eth2"
"""
