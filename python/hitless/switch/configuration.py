"""The configuration of `hitless switch`: a scenario, and the interfaces for its real nodes."""

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
    """Scenario file, relative to the folder of this file."""
    strict: bool = False
    """Exit with code 1 if a deadline was missed."""
    slack_us: Annotated[float, Field(ge=1.0, le=1e6)] = 1_000.0
    """Lateness above which a deadline is missed, in microseconds."""
    busy_poll: bool = False
    """Never sleep: occupies a processor for minimum jitter."""
    mode: Mode = "packet"
    """Path of frames to the kernel at each interface: "packet" is AF_PACKET, "auto" is AF_XDP where it works."""
    results: File | None = None
    """New folder for tables, summary and manifest, written at the end, and for captures of packets.

    Relative to the folder of this file.
    """


class Metrics(service_metrics.Metrics):
    port: service_metrics.PortNumber = 9_471
    """TCP port for Prometheus; 0 for no metrics."""


class Interface(Checked):
    """``[[interface]]``: a real node of the scenario, and the interface that leads to it."""

    node: Annotated[str, Field(min_length=1, max_length=256)]
    """A host, a remote switch, or a link to a remote switch if it has several links."""
    name: InterfaceName
    """Interface that leads to the node."""
    offloads: Literal["switch-off", "leave"] = "switch-off"
    """Treatment of offloads that merge or split frames; they are switched on again at the end."""


class Config(Checked):
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


CHANGEABLE = frozenset({"scenario", "strict"})
"""Fields of ``[switch]`` that a running switch accepts when it reads its file again."""


def read_config(path: Path) -> tuple[Config, LiveScenario]:
    """Read the configuration in a file, and the scenario that it names. Raises `BadInput` with all errors."""
    config = parse(Config, read_text(path), str(path), hint="hitless switch --example prints an example file")
    file = path.parent / config.switch.scenario
    scenario = check_live(read_text(file), str(file))
    _require_nodes(config, scenario, str(path))
    return config, scenario


def _require_nodes(config: Config, scenario: LiveScenario, where: str) -> None:
    """Require that the nodes exist; the fabric reports links that are ambiguous."""
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
# strict = true                 # exit with code 1 if a deadline was missed
# slack_us = 1000.0             # lateness above which a deadline is missed
# mode = "auto"                 # AF_XDP where it works, instead of AF_PACKET
# busy_poll = true              # occupies a processor, for minimum jitter
# results = "results"           # a new folder for tables and counts, written at the end, and captures of packets

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
