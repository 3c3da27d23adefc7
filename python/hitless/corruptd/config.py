"""The configuration file: TOML, checked as a whole, every error with line, field, value, rule and hint."""

from pathlib import Path
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, Field, model_validator

from hitless.corruptd.actors import Actor, HookActor, ReportActor
from hitless.corruptd.bus import Bus, LocalHub, SilentBus
from hitless.corruptd.daemon import DaemonPlan, GuardPlan, LinkOfLive, LiveName, PortNumber, WatchPlan
from hitless.corruptd.detection import Policy
from hitless.corruptd.live import LiveActor, LiveSource
from hitless.corruptd.messages import Name, Seconds, channel
from hitless.corruptd.protocol import Pace, Upstream
from hitless.corruptd.redis_bus import RedisBus, RedisSettings, address, check_url
from hitless.corruptd.sources import CounterSource
from hitless.corruptd.sources.linux import LinuxSource, SysfsSource
from hitless.corruptd.sources.sonic import SonicSource
from hitless.errors import BadInput, reason
from hitless.service import metrics as service_metrics
from hitless.service import running
from hitless.service.configuration import Checked, File, parse
from hitless.whole_file import read_text


def _sound_url(url: str) -> str:
    check_url(url)
    return url


RedisUrl = Annotated[str, AfterValidator(_sound_url)]


class Main(Checked):
    """``[corruptd]``."""

    switch_id: Name
    poll_interval_s: Seconds = 1.0
    state_file: File | None = None
    dry_run: bool = False


class BusSection(Checked):
    kind: Literal["local", "redis"] = "local"
    url: RedisUrl = "redis://127.0.0.1:6379/0"
    username: str | None = None
    password_file: File | None = None
    ca_file: File | None = None
    certificate_file: File | None = None
    key_file: File | None = None

    @model_validator(mode="after")
    def _is_reachable(self) -> Self:
        files = (self.ca_file, self.certificate_file, self.key_file)
        if any(files) and not self.url.startswith("rediss://"):
            raise ValueError("certificates have no effect without TLS: url must begin with rediss://")
        return self

    def settings(self) -> RedisSettings:
        """Return the settings for the client. Raises `BadInput` if the password or a certificate cannot be read."""
        for name in ("ca_file", "certificate_file", "key_file"):
            _require_readable(f"bus.{name}", getattr(self, name))
        return RedisSettings(
            url=self.url,
            username=self.username,
            password=None if self.password_file is None else _secret(self.password_file),
            ca_file=self.ca_file,
            certificate_file=self.certificate_file,
            key_file=self.key_file,
        )


class Action(Checked):
    kind: Literal["live", "hook", "report"] = "report"
    command: list[str] = Field(default_factory=list)
    timeout_s: Annotated[float, Field(gt=0.0, le=60.0)] = 10.0

    @model_validator(mode="after")
    def _has_command(self) -> Self:
        if (self.kind == "hook") != bool(self.command):
            raise ValueError('command goes with kind = "hook", and must not be empty there')
        return self


class Metrics(service_metrics.Metrics):
    port: service_metrics.PortNumber = 9_470


class WatchSection(Checked):
    """``[[watch]]``: a link that ends at this switch."""

    link: Name
    source: Literal["linux", "sysfs", "sonic", "live"] = "linux"
    port: Annotated[str, Field(max_length=64, pattern=r"^[^/\s]*$")] = ""
    live: LiveName = ""
    live_link: LinkOfLive = ""
    sonic_url: RedisUrl = "unix:///var/run/redis/redis.sock?db=2"
    count_fec: bool = False
    counter_bits: Literal[32, 64] = 64
    arm: bool = True
    dev_port: PortNumber = 0
    upstream_switch_id: Name
    upstream_dev_port: PortNumber = 0
    upstream_mcast_grp: PortNumber = 0

    @model_validator(mode="after")
    def _has_port(self) -> Self:
        if not self.port and self.source != "live":
            raise ValueError(f'port is missing: source = "{self.source}" reads its counters')
        if self.port and self.source == "live":
            raise ValueError('port has no effect with source = "live", which reads the counters of live_link')
        return self

    @model_validator(mode="after")
    def _can_count_fec(self) -> Self:
        if self.count_fec and self.source in {"sysfs", "live"}:
            raise ValueError(
                f'count_fec has no effect with source = "{self.source}", which does not report uncorrectable blocks'
            )
        return self

    def plan(self) -> WatchPlan:
        upstream = Upstream(self.link, self.upstream_switch_id, self.upstream_dev_port, self.upstream_mcast_grp)
        return WatchPlan(
            upstream,
            self._source(),
            self.arm,
            self.dev_port,
            self.counter_bits,
            self.live,
            self.live_link,
            self._counters(),
        )

    def _counters(self) -> str:
        """Return a string that identifies the counters: if it changes, readings before and after are not comparable."""
        if self.source == "live":
            return f"live {self.live} {self.live_link or self.link}"
        where = f" {address(self.sonic_url)}" if self.source == "sonic" else ""
        return f"{self.source} {self.port}{where} of {self.counter_bits} bits{' with FEC' if self.count_fec else ''}"

    def _source(self) -> CounterSource:
        if self.source == "live":
            return LiveSource(self.live, self.live_link or self.link)
        if self.source == "sonic":
            return SonicSource(self.port, RedisSettings(self.sonic_url), count_fec=self.count_fec)
        return LinuxSource(self.port, count_fec=self.count_fec) if self.source == "linux" else SysfsSource(self.port)


class Config(Checked):
    corruptd: Main
    detection: Policy = Policy()
    messages: Pace = Pace()
    bus: BusSection = BusSection()
    action: Action = Action()
    metrics: Metrics = Metrics()
    watch: list[WatchSection] = Field(default_factory=list)
    guard: list[GuardPlan] = Field(default_factory=list)

    @model_validator(mode="after")
    def _makes_sense(self) -> Self:
        if not self.watch and not self.guard:
            raise ValueError("there is nothing to do: at least one [[watch]] or [[guard]] is needed")
        for name, links in (("watch", [w.link for w in self.watch]), ("guard", [g.link for g in self.guard])):
            twice = sorted({link for link in links if links.count(link) > 1})
            if twice:
                raise ValueError(f"[[{name}]] names {twice[0]} twice")
        self._require_ports_of_their_own()
        return self

    def _require_ports_of_their_own(self) -> None:
        """Require distinct ports, because the status key of a guard contains its port."""
        links: dict[int, str] = {}
        for guard in self.guard:
            if guard.dev_port in links:
                both = f"{links[guard.dev_port]} and {guard.link} both have dev_port = {guard.dev_port}"
                raise ValueError(f"[[guard]] {both}: each link begins at a different port")
            links[guard.dev_port] = guard.link

    def plan(self) -> DaemonPlan:
        return DaemonPlan(
            switch_id=self.corruptd.switch_id,
            watches=[watch.plan() for watch in self.watch],
            guards=self.guard,
            policy=self.detection,
            pace=self.messages,
            poll_interval_s=self.corruptd.poll_interval_s,
        )

    def check_surroundings(self, where: str) -> None:
        """Require that the things named in the file exist. Raises `BadInput`. ``where`` is the name of the file."""
        state_file = self.corruptd.state_file
        if state_file is None:
            return
        if not state_file.parent.is_dir():
            raise BadInput(f"corruptd.state_file: there is no folder {state_file.parent}", where=where)
        if state_file.exists() and not state_file.is_file():
            raise BadInput(f"corruptd.state_file is not a file: {state_file}", where=where)
        if state_file.exists():
            _require_readable("corruptd.state_file", state_file)

    def warnings(self) -> list[str]:
        """Return warnings about settings that are valid but suspicious."""
        main = self.corruptd
        if self.bus.kind != "local" or main.dry_run:
            return []
        asked = [(watch.link, watch.upstream_switch_id) for watch in self.watch]
        asking = [(guard.link, guard.downstream_switch_id) for guard in self.guard]
        away = [f"{other} ({link})" for link, other in (*asked, *asking) if other != main.switch_id]
        if not away:
            return []
        rule = 'bus.kind = "local" does not reach other processes'
        hint = 'use "redis", or dry_run = true to report only'
        return [f"{rule}, so not the daemon of {', nor of '.join(away)}; {hint}"]

    def unreachable(self) -> list[str]:
        """Return why running processes that the file names cannot be read or controlled now."""
        acts = self.action.kind == "live"
        watches = [watch.live for watch in self.watch if watch.source == "live" or (acts and watch.arm)]
        guards = [guard.live for guard in self.guard if acts]
        found = []
        for name in dict.fromkeys([*watches, *guards]):
            try:
                running.choose(name or None)
            except BadInput as refused:
                found.append(refused.what)
        return found

    def make_bus(self) -> Bus:
        """Return the bus, not connected yet; a dry run only listens."""
        hears = channel(self.corruptd.switch_id)
        bus: Bus = RedisBus(self.bus.settings(), hears) if self.bus.kind == "redis" else LocalHub().join(hears)
        return SilentBus(bus) if self.corruptd.dry_run else bus

    def make_actor(self) -> Actor:
        """Return the actor; a dry run only reports."""
        if self.corruptd.dry_run or self.action.kind == "report":
            return ReportActor()
        if self.action.kind == "live":
            return LiveActor()
        return HookActor(self.action.command, self.action.timeout_s)


def read_config(path: Path) -> Config:
    """Read the configuration in a file. Raises `BadInput` with all errors."""
    return parse_config(read_text(path), str(path))


def parse_config(text: str, file_name: str) -> Config:
    return parse(Config, text, file_name, hint="hitless corruptd example prints an example file")


def _require_readable(field: str, path: Path | None) -> None:
    try:
        if path is not None:
            path.open("rb").close()
    except OSError as failed:
        raise BadInput(f"{field} cannot be read: {path}: {failed.strerror}") from failed


def _secret(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError) as failed:
        raise BadInput(f"the password in {path} cannot be read: {reason(failed)}") from failed


EXAMPLE = """\
# corruptd of the switch sw6: hitless corruptd run FILE

[corruptd]
switch_id = "sw6"
poll_interval_s = 1.0
# state_file = "/var/lib/hitless/corruptd.json"   # state that must survive a restart
dry_run = true                      # report only; false to act, which needs [bus] kind = "redis"

[detection]
window_frames = 100_000_000         # LinkGuardian, appendix C
threshold = 1e-8
target_loss_rate = 1e-8

[bus]
kind = "local"                      # does not reach other processes; "redis" joins the daemons of switches
# url = "rediss://redis.example:6380/0"
# username = "corruptd"
# password_file = "/etc/hitless/redis-password"
# ca_file = "/etc/hitless/redis-ca.pem"

[action]
kind = "report"                     # "live" controls a running hitless link or switch, "hook" runs a command
# command = ["/usr/local/sbin/linkguardian"]

[metrics]
port = 9470                         # http://127.0.0.1:9470/metrics; 0 for none

[[watch]]                           # a link that ends here: we see its corruption
link = "sw2->sw6"
source = "linux"                    # or "sysfs", "sonic", "live"
port = "eth0"
upstream_switch_id = "sw2"
upstream_dev_port = 132

[[guard]]                           # a link that begins here: we protect it when the switch behind it asks
link = "sw6->sw2"
downstream_switch_id = "sw2"
dev_port = 140
mcast_grp = 1
# live = "link-eth1"                # with [action] kind = "live": the hitless link or switch that sends on it
"""
