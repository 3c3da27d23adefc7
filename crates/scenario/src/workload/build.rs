//! From `[[flows]]` to generators.

use std::borrow::Cow;

use hitless_core::engine::{RandomStreams, Stream};
use hitless_core::settings::{Problem, closest, input};
use hitless_core::wire::{Bytes, Duration, HostId, Time};

use crate::network::topology::Topology;
use crate::network::topology::select::{select_hosts, suggested};
use crate::workload::asking::Asking;
use crate::workload::generators::{
    Answers, Arrivals, Dependent, Generator, IncastGenerator, PairGenerator, PairSampler, Starts, Template, all_to_all,
    paired, permutation,
};
use crate::workload::size::{Pareto, SizeSampler};
use crate::workload::{Cdf, FlowSpec, LoadDenominator, Messages, Sequence, Workload, cdf, flow_list};
use crate::{
    Across, AllToAllFlows, CdfSizes, FlowGroup, FlowPattern, FlowSizes, IncastFlows, ListedFlows, PairedFlows,
    PermutationFlows, PoissonFlows, RequestFlows, RequestSettings, Scenario, ScheduledFlows, SequentialFlows,
    ThinkSettings,
};

/// Returns all flows of `scenario`, in order of time and of the names of their groups, drawn from `streams`. `topology`
/// must be built from the scenario's settings.
///
/// # Errors
/// A sentence; for a checked scenario only if a file has changed since.
pub fn build(scenario: &Scenario, topology: &Topology, streams: &RandomStreams) -> Result<Workload, String> {
    // By name, so that flows with the same start keep their order when groups are added or moved.
    let mut order: Vec<usize> = (0..scenario.flows.len()).collect();
    order.sort_unstable_by_key(|&index| &scenario.flows[index].name);
    let groups = order.into_iter().map(|index| build_group(scenario, topology, streams, index));
    let groups: Result<Vec<Generator>, Problem> = groups.collect();
    let end = scenario.duration.unwrap_or(Time::NEVER);
    groups.map(|groups| Workload::merge(groups, end)).map_err(|problem| format!("{}: {}", problem.field, problem.rule))
}

/// Returns the load of a group as a fraction of a capacity, if it is given that way.
pub(crate) fn load_of(group: &FlowGroup) -> Option<(f64, LoadDenominator)> {
    match &group.pattern {
        FlowPattern::Poisson(poisson) => Some((poisson.load?, poisson.load_of?)),
        FlowPattern::Incast(incast) => Some((incast.load?, incast.load_of?)),
        _ => None,
    }
}

/// Builds the generator of group `index`.
pub(crate) fn build_group(
    scenario: &Scenario,
    topology: &Topology,
    streams: &RandomStreams,
    index: usize,
) -> Result<Generator, Problem> {
    let group = &scenario.flows[index];
    let builder = Builder {
        scenario,
        topology,
        section: format!("flows[{index}]"),
        template: Template {
            start: group.start,
            stop: group.stop,
            transport: scenario.transport_of(group),
            class: group.class,
            group: index,
        },
        // By name, so that a group keeps its random numbers when other groups are added or moved.
        stream: streams.stream(&format!("flows {}", group.name)),
        thinking: streams.stream(&format!("thinking {}", group.name)),
    };
    match &group.pattern {
        FlowPattern::Poisson(poisson) => builder.poisson(poisson),
        FlowPattern::Schedule(schedule) => builder.schedule(schedule),
        FlowPattern::Sequence(sequence) => builder.sequence(sequence),
        FlowPattern::Incast(incast) => builder.incast(incast),
        FlowPattern::Long(pairs) | FlowPattern::ConstantRate(pairs) => builder.pairs(pairs),
        FlowPattern::Requests(requests) => builder.requests(requests),
        FlowPattern::Permutation(settings) => builder.permutation(settings),
        FlowPattern::AllToAll(settings) => builder.all_to_all(settings),
        FlowPattern::List(list) => builder.list(list),
        FlowPattern::DependencyList(list) => builder.dependency_list(list),
    }
}

/// Maximum number of flows of an all-to-all, because they are drawn before the run: 4,096 hosts, and 2 GB.
const LISTED_MAX: usize = 1 << 24;

struct Builder<'a> {
    scenario: &'a Scenario,
    topology: &'a Topology,
    section: String,
    template: Template,
    stream: Stream,
    /// The stream of think times.
    thinking: Stream,
}

impl Builder<'_> {
    fn problem(&self, name: &str, rule: impl Into<String>) -> Problem {
        Problem::new(format!("{}.{name}", self.section), "", rule)
    }

    fn hosts(&self, name: &str, names: &[String]) -> Result<Vec<HostId>, Problem> {
        let hosts = select_hosts(self.topology, names).map_err(|rule| {
            let wrong = names.iter().find(|name| select_hosts(self.topology, &[(*name).clone()]).is_err());
            self.problem(name, rule).maybe_hint(wrong.and_then(|wrong| suggested(self.topology, wrong, true)))
        })?;
        if hosts.is_empty() { Err(self.problem(name, "must name at least one host")) } else { Ok(hosts) }
    }

    fn bytes(&self, name: &str, bytes: Bytes) -> Result<u64, Problem> {
        if bytes == Bytes::ZERO { Err(self.problem(name, "must be above zero")) } else { Ok(bytes.0) }
    }

    fn poisson(self, settings: &PoissonFlows) -> Result<Generator, Problem> {
        let sources = self.hosts("sources", &settings.sources)?;
        let sizes = self.sizes(&settings.sizes)?;
        let load = self.load(settings.load, settings.load_of, &sources)?;
        let per_second = match (load, settings.flows_per_second) {
            (Some(bps), None) => bps / (8.0 * sizes.mean_bytes()),
            (None, Some(per_second)) => self.positive("flows_per_second", per_second)?,
            (Some(_), Some(_)) => return Err(self.problem("flows_per_second", "has no effect when a load is given")),
            (None, None) => {
                let problem = self.problem("load", "must be given, with load_of, or flows_per_second instead");
                return Err(problem.hint("load = 0.5, load_of = \"host-links\""));
            }
        };
        let pairs = self.random_pairs(sources, &settings.destinations, settings.across)?;
        let asking = self.asking(settings.request.as_ref())?;
        if asking.is_some() && settings.connections.is_some() {
            return Err(self.problem("request", "opens a connection of its own: it does not go with connections"));
        }
        let starts = Starts::new(self.template, Arrivals::Poisson { per_second }, settings.count);
        let connections = settings.connections;
        let flows = PairGenerator { starts, pairs, sizes, stream: self.stream, connections, asking };
        Ok(Generator::Pairs(Box::new(flows)))
    }

    fn asking(&self, settings: Option<&RequestSettings>) -> Result<Option<Asking>, Problem> {
        let Some(RequestSettings { size, think }) = settings else { return Ok(None) };
        let bytes = self.bytes("request.size", *size)?;
        let ThinkSettings { mean, deviation } = *think;
        Ok(Some(Asking { bytes, mean, deviation, stream: self.thinking.clone() }))
    }

    fn schedule(self, settings: &ScheduledFlows) -> Result<Generator, Problem> {
        let ScheduledFlows { sizes, period, sources, destinations, count } = settings;
        if *period == Duration::ZERO {
            return Err(self.problem("period", "must be above zero"));
        }
        let flows = self.drawn(*period, sizes, sources, destinations, *count)?;
        Ok(Generator::Pairs(Box::new(flows)))
    }

    fn sequence(self, settings: &SequentialFlows) -> Result<Generator, Problem> {
        let SequentialFlows { sizes, sources, destinations, count, gap } = settings;
        let flows = self.drawn(Duration::ZERO, sizes, sources, destinations, *count)?;
        Ok(Generator::Sequence(Box::new(Sequence { flows, gap: *gap })))
    }

    /// Builds a group with one flow per period between random hosts.
    fn drawn(
        self,
        period: Duration,
        sizes: &FlowSizes,
        sources: &[String],
        destinations: &[String],
        count: Option<u64>,
    ) -> Result<PairGenerator, Problem> {
        let sources = self.hosts("sources", sources)?;
        let sizes = self.sizes(sizes)?;
        let pairs = self.random_pairs(sources, destinations, Across::Any)?;
        let starts = Starts::new(self.template, Arrivals::Every(period), count);
        Ok(PairGenerator { starts, pairs, sizes, stream: self.stream, connections: None, asking: None })
    }

    fn random_pairs(
        &self,
        sources: Vec<HostId>,
        destinations: &[String],
        across: Across,
    ) -> Result<PairSampler, Problem> {
        let destinations = self.hosts("destinations", destinations)?;
        PairSampler::new(self.topology, sources, destinations, across == Across::Switches)
            .ok_or_else(|| self.problem("destinations", "some sender would find no receiver among these"))
    }

    fn positive(&self, name: &str, value: f64) -> Result<f64, Problem> {
        if value > 0.0 { Ok(value) } else { Err(self.problem(name, "must be above zero")) }
    }

    /// Returns the offered load in bits per second, if one is given.
    fn load(
        &self,
        load: Option<f64>,
        load_of: Option<LoadDenominator>,
        senders: &[HostId],
    ) -> Result<Option<f64>, Problem> {
        match (load, load_of) {
            (None, None) => Ok(None),
            (Some(_), None) => {
                let problem = self.problem("load_of", "must be given: a load is a fraction of some capacity");
                Err(problem.hint("\"host-links\", \"leaf-spine-links\" or \"source-host-links\""))
            }
            (None, Some(_)) => Err(self.problem("load_of", "has no effect without load")),
            (Some(load), Some(denominator)) => {
                let load = self.positive("load", load)?;
                let capacity_bps = denominator.capacity_bps(self.topology, senders);
                if capacity_bps == 0 {
                    return Err(self.problem("load_of", "there are no such links in this topology"));
                }
                Ok(Some(load * capacity_bps as f64))
            }
        }
    }

    fn sizes(&self, sizes: &FlowSizes) -> Result<SizeSampler, Problem> {
        match sizes {
            FlowSizes::Cdf(table) => self.table(table).map(SizeSampler::Cdf),
            FlowSizes::Fixed(fixed) => self.bytes("sizes.bytes", fixed.bytes).map(SizeSampler::Fixed),
            FlowSizes::Pareto(pareto) => Pareto::new(pareto.shape, pareto.mean.0 as f64, pareto.largest.0 as f64)
                .map(SizeSampler::Pareto)
                .ok_or_else(|| self.problem("sizes", "needs a shape above 1, a mean above 0, and a larger largest")),
        }
    }

    fn table(&self, settings: &CdfSizes) -> Result<Cdf, Problem> {
        let name = &settings.table;
        let known = || cdf::TABLES.iter().map(|(name, _)| *name);
        let text = match cdf::TABLES.iter().find(|(known, _)| known == name) {
            Some((_, text)) => Cow::Borrowed(*text),
            None => Cow::Owned(self.file("sizes.table", name, ".txt", known().collect())?),
        };
        let table = Cdf::parse(&text).map_err(|error| self.problem("sizes.table", error.to_string()))?;
        match settings.largest {
            None => Ok(table),
            Some(largest) => table
                .up_to(largest.0 as f64)
                .ok_or_else(|| self.problem("sizes.largest", "is below all sizes of the table")),
        }
    }

    /// Reads a file that the scenario names; `known` are the built-in names, used for hints.
    fn file(&self, field: &str, name: &str, ending: &str, known: Vec<&'static str>) -> Result<String, Problem> {
        if !name.ends_with(ending) {
            let hint = match closest(name, known.iter().copied()) {
                Some(name) => format!("did you mean \"{name}\"?"),
                None => format!("known: {}; or the path of a file that ends in \"{ending}\"", known.join(", ")),
            };
            return Err(self.problem(field, "nothing of this name comes with the program").hint(hint));
        }
        let path = self.scenario.folder.join(name);
        input::read_text(&path).map_err(|error| self.problem(field, format!("cannot be read: {error}")))
    }

    fn incast(self, settings: &IncastFlows) -> Result<Generator, Problem> {
        let bytes = self.bytes("size", settings.size)?;
        let clients = self.hosts("clients", &settings.clients)?;
        let servers = self.hosts("servers", &settings.servers)?;
        let load = self.load(settings.load, settings.load_of, &servers)?;
        let query_bits = 8.0 * bytes as f64 * f64::from(settings.fan_in);
        let arrivals = match (load, settings.queries_per_second, settings.period) {
            (Some(bps), None, None) => Arrivals::Poisson { per_second: bps / query_bits },
            (None, Some(rate), None) => Arrivals::Poisson { per_second: self.positive("queries_per_second", rate)? },
            (None, None, Some(period)) if period > Duration::ZERO => Arrivals::Every(period),
            (None, None, Some(_)) => return Err(self.problem("period", "must be above zero")),
            _ => {
                let rule = "give exactly one of period, queries_per_second, and load with load_of";
                return Err(Problem::new(self.section, "", rule));
            }
        };
        let answers = Answers { fan_in: settings.fan_in, bytes, servers_repeat: settings.servers_repeat };
        let asking = self.asking(settings.request.as_ref())?;
        let (section, starts) = (self.section, Starts::new(self.template, arrivals, settings.count));
        IncastGenerator::new(starts, clients, servers, answers, self.stream, asking)
            .map(|generator| Generator::Incast(Box::new(generator)))
            .ok_or_else(|| {
                let rule = "is more than there are servers beside the client";
                let hint = "servers_repeat = true lets a server give several answers";
                Problem::new(format!("{section}.fan_in"), "", rule).hint(hint)
            })
    }

    fn pair_hosts(
        &self,
        sources: &[String],
        destinations: &[String],
        spacing: Duration,
    ) -> Result<Vec<(HostId, HostId, Time)>, Problem> {
        let sources = self.hosts("sources", sources)?;
        let destinations = self.hosts("destinations", destinations)?;
        let pairs = paired(&self.template, &sources, &destinations, spacing);
        match pairs.iter().find(|(from, to, _)| from == to) {
            Some((host, _, _)) => {
                let name = &self.topology.host(*host).name;
                let paired = "sources and destinations are paired in order, and the shorter list is repeated";
                let hint = (sources.len() != destinations.len()).then(|| paired.to_string());
                Err(self.problem("destinations", format!("{name} would send to itself")).maybe_hint(hint))
            }
            None => Ok(pairs),
        }
    }

    fn pairs(self, settings: &PairedFlows) -> Result<Generator, Problem> {
        let pairs = self.pair_hosts(&settings.sources, &settings.destinations, settings.spacing)?;
        let flows = pairs.into_iter().map(|(from, to, start)| self.template.unlimited(from, to, start));
        Ok(self.listed(flows.collect()))
    }

    /// Leaves out flows that would start after the end of the group, as in every group; the others keep their
    /// positions.
    fn listed(&self, mut flows: Vec<FlowSpec>) -> Generator {
        (0..).zip(&mut flows).for_each(|(position, flow)| flow.position = position);
        flows.retain(|flow| !self.template.is_over(flow.start));
        Generator::listed(flows)
    }

    fn requests(self, settings: &RequestFlows) -> Result<Generator, Problem> {
        let bytes = self.bytes("size", settings.size)?;
        let messages = Messages { count: settings.count, gap: settings.gap };
        let pairs = self.pair_hosts(&settings.sources, &settings.destinations, settings.spacing)?;
        let flow = |(from, to, start)| FlowSpec {
            messages,
            stop: self.template.stop,
            ..self.template.sized(from, to, bytes, start)
        };
        Ok(self.listed(pairs.into_iter().map(flow).collect()))
    }

    /// Returns the hosts, at least two, each named once.
    fn members(&self, names: &[String]) -> Result<Vec<HostId>, Problem> {
        let hosts = self.hosts("hosts", names)?;
        let mut sorted = hosts.clone();
        sorted.sort_unstable();
        sorted.dedup();
        if sorted.len() < 2 || sorted.len() < hosts.len() {
            return Err(self.problem("hosts", "must be at least two hosts, none named twice"));
        }
        Ok(hosts)
    }

    fn all_to_all(self, settings: &AllToAllFlows) -> Result<Generator, Problem> {
        let hosts = self.members(&settings.hosts)?;
        let count = hosts.len() * (hosts.len() - 1);
        if count > LISTED_MAX {
            let rule = format!("{} hosts give {count} flows; a group has at most {LISTED_MAX}", hosts.len());
            return Err(self.problem("hosts", rule));
        }
        let bytes = self.bytes("size", settings.size)?;
        let flows = all_to_all(&hosts).map(|(from, to)| self.template.sized(from, to, bytes, self.template.start));
        Ok(self.listed(flows.collect()))
    }

    fn permutation(mut self, settings: &PermutationFlows) -> Result<Generator, Problem> {
        let hosts = self.members(&settings.hosts)?;
        let bytes = self.bytes("size", settings.size)?;
        let flows = permutation(&self.template, &hosts, bytes, settings.spread, &mut self.stream);
        Ok(self.listed(flows))
    }

    /// Reads the lines of a list with their flows, in the order of the file.
    fn lines(&self, settings: &ListedFlows) -> Result<Vec<(flow_list::ListedFlow, FlowSpec)>, Problem> {
        let known = flow_list::LISTS.iter().map(|(name, _)| *name).collect();
        let unit_bytes = settings.packet_bytes.map_or(Ok(1), |bytes| self.bytes("packet_bytes", bytes))?;
        let text = match flow_list::named(&settings.file) {
            Some(text) => Cow::Borrowed(text),
            None => Cow::Owned(self.file("file", &settings.file, ".flows", known)?),
        };
        let list = flow_list::parse(&text, self.topology.hosts.len());
        let list = list.map_err(|error| self.problem("file", error.to_string()))?;
        let flow = |line: flow_list::ListedFlow| {
            let bytes = line.size.saturating_mul(unit_bytes);
            let start = self.template.after(Duration::from_ps(line.start.as_ps()));
            let flow = self.template.sized(line.source, line.destination, bytes, start);
            (line, flow)
        };
        Ok(list.into_iter().map(flow).collect())
    }

    fn list(self, settings: &ListedFlows) -> Result<Generator, Problem> {
        let lines = self.lines(settings)?;
        if let Some((line, _)) = lines.iter().find(|(line, _)| line.needed > 0) {
            let problem = self.problem("file", format!("line {}: the flow waits for others ('after')", line.number));
            return Err(problem.hint("kind = \"dependency-list\""));
        }
        Ok(self.listed(lines.into_iter().map(|(_, flow)| flow).collect()))
    }

    fn dependency_list(self, settings: &ListedFlows) -> Result<Generator, Problem> {
        if self.template.stop.is_some() {
            let rule = "does not go with dependencies: flows that wait for a flow after it would never start";
            return Err(self.problem("stop", rule));
        }
        let (mut open, mut dependents) = (Vec::new(), Vec::new());
        for (position, (line, flow)) in (0..).zip(self.lines(settings)?) {
            let flow = FlowSpec { position, ..flow };
            if line.needed == 0 {
                open.push(flow);
                continue;
            }
            let after = line.after.into_iter().map(|before| before as u64).collect();
            let delay = Duration::from_ps(line.start.as_ps());
            dependents.push(Dependent { flow, delay, after, needed: line.needed });
        }
        Ok(Generator::with_dependents(open, dependents))
    }
}
