//! The switch: its parts, and the events that happen outside the path of a packet (see `pipeline`).

use std::sync::Arc;

use hitless_core::engine::Stream;
use hitless_core::state::{self, Damaged, Reader, Writer};
use hitless_core::wire::{BitRate, Duration, LineClock, PortId, Time};

use crate::architecture::Architecture;
use crate::core::Core;
use crate::environment::{Environment, SwitchEvent};
use crate::event::{Event, PortState};
use crate::explore::{Digest, State};
use crate::forwarding::{Flowlets, PathChoice, TwoChoices};
use crate::hook_set::PortHooks;
use crate::mechanism::Mechanism;
use crate::outbox::Output;
use crate::port::{Line, Port, PortConfig, Queueing, Scheduler};
use crate::queueing::{BufferPolicy, SharedBuffer};
use crate::quiet_roles::QuietRoles;
use crate::register::Pass;
use crate::resources::Resources;

/// A switch and the mechanisms that run on it.
pub struct Switch {
    pub(crate) core: Core,
    pub(crate) mechanisms: Vec<Box<dyn Mechanism>>,
    /// Effects of the hook that ran last.
    pub(crate) outputs: Vec<Output>,
    /// Ports with a group of queues, and the mechanism that asked for it.
    pub(crate) group_owners: Vec<(PortId, u8)>,
    pub(crate) quiet_roles: QuietRoles,
    /// Resources, by mechanism.
    pub(crate) resources: Vec<Resources>,
}

/// Number of recent port configurations that a new one is compared with.
const KNOWN_CONFIGS: usize = 4;

/// Separates the line from a port configuration. Equal configurations of nearby ports share one allocation.
fn shared(config: PortConfig, known: &mut Vec<Arc<PortConfig>>) -> (Arc<PortConfig>, Line) {
    let clock = LineClock::off_by(config.rate, config.clock_offset_ppb);
    let line = Line { number: config.line, clock };
    // Line and clock differ per port; without them most ports of a switch are equal.
    let config = PortConfig { line: 0, clock_offset_ppb: 0, ..config };
    if let Some(same) = known.iter().rev().take(KNOWN_CONFIGS).find(|known| ***known == config) {
        return (Arc::clone(same), line);
    }
    let config = Arc::new(config);
    known.push(Arc::clone(&config));
    (config, line)
}

impl Switch {
    /// Builds a switch. Mechanisms run in the order of the list; the maximum is eight.
    ///
    /// # Panics
    /// With more than eight mechanisms, a port without queues or with more than 64, or two groups of queues at one
    /// port.
    pub fn new(
        architecture: Architecture,
        mut ports: Vec<PortConfig>,
        buffer: BufferPolicy,
        mut mechanisms: Vec<Box<dyn Mechanism>>,
    ) -> Self {
        assert!(mechanisms.len() <= 8, "a switch runs at most eight mechanisms");
        let mut hooks = vec![PortHooks::default(); ports.len()];
        let mut group_owners = Vec::new();
        let mut resources = Vec::new();
        let mut quiet_roles = QuietRoles::default();
        // Before mechanisms add queues.
        let own_queues: Vec<usize> = ports.iter().map(|port| port.queues.len()).collect();
        for (number, mechanism) in mechanisms.iter_mut().enumerate() {
            // A mechanism numbers its queues after those of earlier mechanisms.
            let queue_counts: Vec<usize> = ports.iter().map(|port| port.queues.len()).collect();
            let needs = mechanism.needs(&queue_counts);
            // The order applies to the configured queues only, not to those that earlier mechanisms added.
            for &(port, order) in &needs.orders {
                ports[usize::from(port.0)].queues[..own_queues[usize::from(port.0)]]
                    .iter_mut()
                    .for_each(|queue| queue.order = order);
            }
            needs.hooks.iter().for_each(|&(port, set)| hooks[usize::from(port.0)].subscribe(number as u8, set));
            needs.queues.iter().for_each(|&(port, queue)| ports[usize::from(port.0)].queues.push(queue));
            for &(port, group) in &needs.groups {
                let earlier = ports[usize::from(port.0)].group.replace(group);
                assert!(earlier.is_none(), "port {} has a group of queues already", port.0);
                group_owners.push((port, number as u8));
            }
            quiet_roles.push(&needs.quiet_roles);
            resources.push(mechanism.resources().asking_for(&needs));
        }
        let buffer = SharedBuffer::new(buffer);
        // Each packet is announced to a FIFO scheduler `lead` before it arrives, so announcements come in the order of
        // arrival. `lead` is the longest time that both latencies allow.
        let lead = architecture.ingress_latency.min(architecture.mirror_latency);
        let mut known: Vec<Arc<PortConfig>> = Vec::new();
        let build = |(config, hooks): (PortConfig, PortHooks)| {
            let (config, line) = shared(config, &mut known);
            let scheduler = Scheduler::new(&config, hooks, buffer.is_shared());
            let mut port = Port::new(config, line, hooks, scheduler, architecture.ingress_latency == lead);
            let is_fifo = matches!(port.scheduler, Scheduler::Fifo(_));
            if architecture.ingress_latency == Duration::ZERO && !is_fifo {
                port.queueing = if port.config.group.is_some() { Queueing::AtOnce } else { Queueing::AtOnceIfNext };
            }
            port
        };
        let ports = ports.into_iter().zip(hooks).map(build).collect();
        let pass = Pass::new(architecture.checked);
        let drops = Default::default();
        let egress_latency = architecture.egress_latency;
        let core = Core {
            ports,
            lead,
            egress_latency,
            architecture,
            pass,
            packets_created: 0,
            buffer,
            drops,
            path_choice: None,
            has_new_stops: false,
        };
        let mut switch = Self { core, mechanisms, outputs: Vec::new(), group_owners, quiet_roles, resources };
        let arrays = switch.resources.iter().flat_map(|of| of.registers.iter().map(|register| register.name));
        let arrays = arrays.collect();
        let footprint = switch.footprint();
        // In checked mode, accesses beyond this statement are refused.
        switch.core.pass.hold_to(arrays, footprint);
        switch
    }

    /// Starts sending each packet to the less loaded of two next hops, drawn from `stream`, instead of the hop of its
    /// route. Needs [`Environment::next_hops`].
    pub fn choose_of_two(&mut self, stream: Stream) {
        self.choose_paths(PathChoice::TwoChoices(TwoChoices { stream }));
    }

    /// Starts sending each flowlet to a random next hop, drawn from `stream`: a pause of a flow above `gap` ends a
    /// flowlet. Needs [`Environment::next_hops`].
    pub fn choose_by_flowlet(&mut self, gap: Duration, stream: Stream) {
        self.choose_paths(PathChoice::Flowlets(Flowlets::new(gap, stream)));
    }

    fn choose_paths(&mut self, choice: PathChoice) {
        self.core.path_choice = Some(choice);
        // The fast path takes the hop of the route.
        self.core.ports.iter_mut().for_each(|port| port.enters_fast_path = false);
    }

    /// Starts the mechanisms; call once, before anything else.
    pub fn start<E: Environment>(&mut self, now: Time, environment: &mut E) {
        self.tell_all(now, Event::Start, environment);
    }

    /// Reports a change of a port's detected state.
    pub fn port_state<E: Environment>(&mut self, now: Time, port: PortId, state: PortState, environment: &mut E) {
        self.tell_all(now, Event::PortState { port, state }, environment);
    }

    /// Changes the rate of a port's line. Frames that begin later take the new rate.
    pub fn set_line_rate(&mut self, port: PortId, rate: BitRate, clock_offset_ppb: i32) {
        self.core.ports[usize::from(port.0)].set_rate(rate, LineClock::off_by(rate, clock_offset_ppb));
    }

    /// Keeps a port's line idle for `longer` after its last frame. A line that became shorter by this time then
    /// delivers the next frame directly behind that one.
    pub fn hold_line(&mut self, port: PortId, longer: Duration) {
        self.core.ports[usize::from(port.0)].hold_line(longer);
    }

    /// Sends a control-plane command to the mechanism of that number.
    pub fn command<E: Environment>(&mut self, now: Time, mechanism: usize, command: u32, environment: &mut E) {
        self.tell(1 << mechanism, now, Event::Command(command), environment);
    }

    /// Handles an event that the switch scheduled.
    #[inline]
    pub fn handle<E: Environment>(&mut self, now: Time, event: SwitchEvent, environment: &mut E) {
        match event {
            SwitchEvent::Loopback { port, packet } => self.return_to_ingress(now, port, packet, environment),
            SwitchEvent::Enqueue { packet, is_last_try } => {
                self.core.end_way_to_queue(packet, environment);
                self.enqueue(now, packet, is_last_try, environment);
            }
            SwitchEvent::Release { packet } => self.release(now, packet, environment),
            SwitchEvent::Service { port } => match &mut self.core.ports[usize::from(port.0)].scheduler {
                Scheduler::Queued(scheduler) => {
                    scheduler.service_is_due = false;
                    self.serve(now, port, environment);
                }
                Scheduler::Flow(scheduler) => {
                    scheduler.service_is_due = false;
                    self.serve_flows(now, port, environment);
                }
                Scheduler::Fifo(_) => unreachable!("a FIFO scheduler knows its departures at arrival"),
            },
            SwitchEvent::PauseEnds { port, class } => self.end_pause(now, port, class, environment),
            SwitchEvent::PauseBegins { port, class } => self.begin_pause(now, port, class, environment),
            SwitchEvent::TellPause { port, class } => self.tell_partner(now, port, class, environment),
            SwitchEvent::UpdateCredits { .. } | SwitchEvent::SyncCredits { .. } | SwitchEvent::CreditsFreed { .. } => {
                self.handle_credits(now, event, environment)
            }
            SwitchEvent::PauseWatchdog { port, class } => self.watch_pause(now, port, class, environment),
            SwitchEvent::Resume { port, queue } => {
                self.core.queued(port).resume(queue);
                self.report_stops(port, environment);
                self.serve_when_free(now, port, environment);
            }
            SwitchEvent::OrderedSet { port, set } => {
                self.tell_all(now, Event::OrderedSet { port, set }, environment);
            }
            SwitchEvent::Timer { mechanism, token } => {
                self.tell(1 << mechanism, now, Event::Timer(token), environment);
            }
        }
    }
}

impl State for Switch {
    /// Excludes the mechanisms; a test holds them [separately](crate::testing::Shared).
    fn tell(&self, digest: &mut Digest<'_>) {
        self.core.ports.iter().for_each(|port| port.tell(digest));
        self.core.buffer.tell(digest);
    }
}

impl Switch {
    /// Returns the names of mechanisms without saved state. A switch with any of them cannot be saved.
    pub fn without_state(&self) -> impl Iterator<Item = &'static str> {
        let named = self.mechanisms.iter().zip(&self.resources);
        named.filter(|(mechanism, _)| mechanism.state().is_none()).map(|(_, resources)| resources.mechanism)
    }
}

/// Valid only between two events.
///
/// # Panics
/// If a mechanism cannot be saved: see [`Switch::without_state`].
impl state::State for Switch {
    fn save(&self, out: &mut Writer) {
        // The mechanisms' settings rebuild the last three fields, so they are not state.
        let Self { core, mechanisms, outputs, group_owners: _, quiet_roles: _, resources: _ } = self;
        assert!(outputs.is_empty(), "a hook is at work");
        core.save(out);
        for mechanism in mechanisms {
            mechanism.state().expect("every mechanism has a state to save").save(out);
        }
    }

    fn load(&mut self, from: &mut Reader<'_>) -> Result<(), Damaged> {
        let Self { core, mechanisms, outputs: _, group_owners: _, quiet_roles: _, resources: _ } = self;
        core.load(from)?;
        for mechanism in mechanisms {
            mechanism.state_mut().expect("every mechanism has a state to load").load(from)?;
        }
        Ok(())
    }
}
