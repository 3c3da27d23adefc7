//! The driver's loop: receive frames, handle due events, send frames, wait.

use std::io;
use std::os::fd::BorrowedFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Mutex, PoisonError};

use hitless_core::wire::Time;
use hitless_simulation::Outcome;

use crate::carrier::{CarrierSource, Carriers};
use crate::clock::{Clock, Lateness};
use crate::fabric::{Leaving, LiveFabric, Order};
use crate::intake::Intake;
use crate::interfaces::{Arrived, Counters, Interface, MonotonicTime};
use crate::self_test::SelfTest;
use crate::status::{Notice, PortChange, PortStatus, Status, overloads};

pub use crate::fabric::LiveCommand as Command;

/// The loop's behaviour while nothing is due.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum WaitMode {
    /// Sleep in the kernel, except when the next event is nearer than `Options::spin_ns`.
    #[default]
    Sleep,
    /// Never sleep: needs a processor for this loop alone, and has the minimum jitter.
    Busy,
}

#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Maximum lateness of a departure before it counts as a miss; also the maximum virtual time handled before
    /// departures are passed to the interfaces.
    pub slack_ns: u64,
    /// Maximum number of frames taken from one port before the others have their turn.
    pub arrivals_per_turn: usize,
    pub waiting: WaitMode,
    /// Remaining time below which the loop waits without sleeping.
    pub spin_ns: u64,
    /// Maximum sleep, and so the maximum delay of a command.
    pub sleep_ns: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            slack_ns: 1_000_000,
            arrivals_per_turn: 64,
            waiting: WaitMode::Sleep,
            spin_ns: 50_000,
            sleep_ns: 5_000_000,
        }
    }
}

#[derive(Debug)]
pub enum Request {
    /// Execute a command, and reply with its result.
    Command(Command, Sender<Result<(), String>>),
    /// Change the frames that the port of a node takes, and reply with the result.
    Intake(String, Intake, Sender<Result<(), String>>),
    Status(Sender<Status>),
}

/// Handle of a run for other threads.
#[derive(Debug)]
pub struct Control {
    is_stopped: AtomicBool,
    notices: Mutex<Vec<Notice>>,
    requests: Sender<Request>,
    inbox: Mutex<Receiver<Request>>,
}

impl Default for Control {
    fn default() -> Self {
        let (requests, inbox) = channel();
        Self { is_stopped: AtomicBool::new(false), notices: Mutex::default(), requests, inbox: Mutex::new(inbox) }
    }
}

impl Control {
    pub fn stop(&self) {
        self.is_stopped.store(true, Ordering::Relaxed);
    }

    pub fn is_stopped(&self) -> bool {
        self.is_stopped.load(Ordering::Relaxed)
    }

    /// Submits a request. The loop answers within its maximum sleep and one turn.
    pub fn request(&self, request: Request) {
        // The receiver is in this struct too, so sending cannot fail.
        let _ = self.requests.send(request);
    }

    /// Takes the notices about interfaces since the last call.
    pub fn take_notices(&self) -> Vec<Notice> {
        std::mem::take(&mut *self.notices.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn tell(&self, told: &mut Vec<Notice>) {
        if !told.is_empty() {
            let mut notices = self.notices.lock().unwrap_or_else(PoisonError::into_inner);
            // Without a reader, notices would accumulate, so their number is limited.
            let room = NOTICES_MAX - notices.len().min(NOTICES_MAX);
            notices.extend(told.drain(..).take(room));
        }
    }

    fn next(&self) -> Option<Request> {
        self.inbox.lock().unwrap_or_else(PoisonError::into_inner).try_recv().ok()
    }
}

/// Maximum duration of a run: 200 days. Virtual time, 64 bits of picoseconds, ends after 213.
const LONGEST_RUN_NS: u64 = 200 * 86_400 * 1_000_000_000;

const NOTICES_MAX: usize = 1_000;

/// Interval between two checks of an interface, which look for it again if it is gone. Interfaces are checked one at a
/// time, so that no turn takes long.
const LOOK_EVERY_NS: u64 = 1_000_000_000;

/// Delay before the loop retries frames that the kernel had no room for.
const RETRY_NS: u64 = 100_000;

struct Port {
    interface: Box<dyn Interface + Send>,
    departures: Lateness,
    has_unflushed: bool,
    failed: Option<String>,
    /// Whether the failure was reported and the link taken down.
    is_given_up: bool,
    /// Whether the driver has stopped looking for the interface.
    is_lost_for_good: bool,
    /// Number of times that it was gone and came back.
    returns: u64,
    has_carrier: bool,
    carrier_losses: u64,
    /// Frames that left the fabric after the interface had failed.
    frames_undeliverable: u64,
    intake: Intake,
    /// Received frames that were not taken.
    frames_left_to_kernel: u64,
    /// Received buffers that stayed whole, and that were split.
    buffers_whole: u64,
    buffers_split: u64,
    last_counters: Counters,
    /// Whether the first drop of a merged frame was reported.
    has_told_merged: bool,
}

impl Port {
    fn fail(&mut self, error: &io::Error) {
        self.failed = Some(format!("{}: {error}", self.interface.name()));
    }

    fn counters(&mut self) -> Counters {
        if let Ok(counters) = self.interface.counters() {
            self.last_counters = Counters {
                buffers_whole: self.buffers_whole,
                buffers_split: counters.buffers_split + self.buffers_split,
                ..counters
            };
        }
        self.last_counters
    }
}

pub struct Driver<C> {
    fabric: LiveFabric,
    /// Ports by point.
    ports: Vec<Port>,
    clock: C,
    /// The wall time of virtual time 0.
    origin: MonotonicTime,
    options: Options,
    timers: Lateness,
    self_test: Option<SelfTest>,
    carriers: Option<Carriers>,
    looked_at_ns: u64,
    /// Next point to check.
    looks_at: usize,
    /// Notices that were not reported yet.
    notices: Vec<Notice>,
}

impl<C: Clock> Driver<C> {
    /// Connects the points of `fabric` to `interfaces`, in order. Virtual time begins now.
    pub fn new(fabric: LiveFabric, interfaces: Vec<Box<dyn Interface + Send>>, clock: C, options: Options) -> Self {
        assert_eq!(fabric.points().len(), interfaces.len(), "each point has an interface");
        let port = |interface| Port {
            interface,
            departures: Lateness::new(options.slack_ns),
            has_unflushed: false,
            failed: None,
            is_given_up: false,
            is_lost_for_good: false,
            returns: 0,
            has_carrier: true,
            carrier_losses: 0,
            frames_undeliverable: 0,
            intake: Intake::default(),
            frames_left_to_kernel: 0,
            buffers_whole: 0,
            buffers_split: 0,
            last_counters: Counters::default(),
            has_told_merged: false,
        };
        let ports = interfaces.into_iter().map(port).collect();
        let (origin, timers) = (clock.now(), Lateness::new(options.slack_ns));
        Self {
            fabric,
            ports,
            clock,
            origin,
            options,
            timers,
            self_test: None,
            carriers: None,
            looked_at_ns: origin.0,
            looks_at: 0,
            notices: Vec::new(),
        }
    }

    pub fn fabric(&mut self) -> &mut LiveFabric {
        &mut self.fabric
    }

    pub fn show_self_test(&mut self, test: Option<SelfTest>) {
        self.self_test = test;
    }

    /// Runs until it is stopped, or until `duration_ns` after the start, at most 200 days.
    pub fn run(&mut self, control: &Control, duration_ns: Option<u64>) {
        if self.fabric.now() == Time::ZERO {
            // Virtual time starts here, so the time since construction does not count as lateness.
            self.origin = self.clock.now();
        }
        let until = self.origin.0.saturating_add(duration_ns.unwrap_or(LONGEST_RUN_NS).min(LONGEST_RUN_NS));
        let mut wall_ns = self.clock.now().0;
        while !control.is_stopped() && wall_ns < until {
            wall_ns = self.turn().0;
            self.tell(control);
            while let Some(request) = control.next() {
                self.serve(request);
            }
            self.wait(wall_ns, until);
        }
        while let Some(request) = control.next() {
            self.serve(request);
        }
    }

    pub fn tell(&mut self, control: &Control) {
        control.tell(&mut self.notices);
    }

    /// Runs one turn: receives frames, handles due events, sends frames. Returns the time after the reception.
    ///
    /// A turn reads the clock once, and once more if frames leave.
    pub fn turn(&mut self) -> MonotonicTime {
        self.take_arrivals();
        let wall = self.clock.now();
        self.follow_carriers(wall.0);
        self.look_after_ports(wall.0);
        if let Some(due) = self.fabric.next_event().map(|at| self.wall_ns(at)).filter(|&due| due <= wall.0) {
            self.timers.record(due, wall.0);
        }
        let target = since(self.origin, wall);
        self.fabric.settle_arrivals(target);
        // Advance in steps of the slack, so that departures reach the interfaces in time even after a long pause.
        let step_ps = self.options.slack_ns.max(1).saturating_mul(1_000);
        loop {
            // Skip idle time in a single step.
            let begins = self.fabric.next_due().map_or(target, |due| due.max(self.fabric.now()));
            let until = target.min(Time(begins.as_ps().saturating_add(step_ps)));
            self.fabric.advance(until);
            self.send_departures();
            if until >= target {
                break;
            }
        }
        wall
    }

    fn take_arrivals(&mut self) {
        let (fabric, origin) = (&mut self.fabric, self.origin);
        for (number, port) in self.ports.iter_mut().enumerate().filter(|(_, port)| port.failed.is_none()) {
            let (intake, left) = (port.intake, &mut port.frames_left_to_kernel);
            let (whole, split) = (&mut port.buffers_whole, &mut port.buffers_split);
            let mut take = |arrived: Arrived<'_>| match arrived {
                Arrived::Frame(frame) if intake.takes(frame.bytes, frame.at) => {
                    fabric.receive(number as u16, since(origin, frame.at), frame.bytes);
                }
                Arrived::Frame(_) => *left += 1,
                Arrived::Merged(merged) if intake.takes(&merged.bytes[merged.start..], merged.at) => {
                    let is_whole = fabric.receive_merged(number as u16, since(origin, merged.at), merged);
                    *if is_whole { &mut *whole } else { &mut *split } += 1;
                }
                Arrived::Merged(merged) => *left += merged.segments.count() as u64,
            };
            if let Err(error) = port.interface.receive_whole(self.options.arrivals_per_turn, &mut take) {
                port.fail(&error);
            }
        }
    }

    fn send_departures(&mut self) {
        let (ports, clock, origin) = (&mut self.ports, &self.clock, self.origin);
        let mut done_ns = None;
        let mut refused = Vec::new();
        self.fabric.departures(|departures, leaving| {
            let port = &mut ports[usize::from(departures[0].point)];
            let done_ns = *done_ns.get_or_insert_with(|| clock.now().0);
            for departure in departures {
                port.departures.record(origin.0 + departure.at.as_ps() / 1_000, done_ns);
            }
            if port.failed.is_some() {
                port.frames_undeliverable += departures.len() as u64;
                return;
            }
            // The interface counts refused frames.
            let refuses = match leaving {
                Leaving::Frame(bytes) => usize::from(port.interface.send(bytes).is_err()),
                Leaving::Together(frames) => port.interface.send_together(&frames),
            };
            port.has_unflushed |= refuses < departures.len();
            refused.extend(departures.iter().take(refuses).map(|departure| (departure.at, departure.point)));
        });
        refused.into_iter().for_each(|(at, point)| self.fabric.note_refusal(at, point));
        for port in ports.iter_mut().filter(|port| port.has_unflushed) {
            match port.interface.flush() {
                Ok(is_done) => port.has_unflushed = !is_done,
                Err(error) => port.fail(&error),
            }
        }
    }

    /// Sleeps until something is due. `wall_ns` is the time of the turn before.
    fn wait(&mut self, wall_ns: u64, until_ns: u64) {
        if self.options.waiting == WaitMode::Busy {
            return;
        }
        let next = self.fabric.next_event().map_or(u64::MAX, |at| self.wall_ns(at));
        if next <= wall_ns.saturating_add(self.options.spin_ns) {
            return;
        }
        let now = self.clock.now().0;
        if next <= now.saturating_add(self.options.spin_ns) {
            return;
        }
        let sleep_ns = if self.ports.iter().any(|port| port.has_unflushed) { RETRY_NS } else { self.options.sleep_ns };
        let wake = next.min(until_ns).min(now + sleep_ns);
        let watched = self.ports.iter().filter(|port| port.failed.is_none());
        let ports = watched.filter_map(|port| port.interface.wakes());
        let ports: Vec<BorrowedFd<'_>> = ports.chain(self.carriers.as_ref().and_then(Carriers::wakes)).collect();
        self.clock.wait(&ports, MonotonicTime(wake));
    }

    pub fn serve(&mut self, request: Request) {
        // A failed send means that the requester no longer waits for the reply.
        match request {
            Request::Command(command, reply) => {
                let _ = reply.send(self.fabric.command(&command));
            }
            Request::Intake(node, intake, reply) => {
                let _ = reply.send(self.set_intake(&node, intake));
            }
            Request::Status(reply) => {
                let _ = reply.send(self.status());
            }
        }
    }

    /// Changes the frames that the port of `node` takes.
    pub fn set_intake(&mut self, node: &str, intake: Intake) -> Result<(), String> {
        let point = self.fabric.points().iter().position(|point| point.name == node);
        let point = point.ok_or_else(|| format!("'{node}' has no port here"))?;
        self.ports[point].intake = intake;
        Ok(())
    }

    pub fn status(&mut self) -> Status {
        let elapsed_s = (self.clock.now().0 - self.origin.0) as f64 / 1e9;
        let counts = self.fabric.counts();
        let view = self.fabric.view();
        let (fabric, ports) = (&self.fabric, self.ports.iter_mut().enumerate());
        let ports: Vec<PortStatus> = ports.map(|(point, port)| port_status(port, fabric, point)).collect();
        let mut drops = view.drops;
        let sum = |what: fn(&PortStatus) -> u64| ports.iter().map(what).sum::<u64>();
        for (reason, count) in [
            ("receive ring overrun", sum(|port| port.counters.frames_overrun)),
            ("transmit refused", sum(|port| port.counters.frames_refused)),
            ("interface down", sum(|port| port.counters.frames_discarded)),
            ("merged by an offload", sum(|port| port.counters.frames_merged)),
            ("interface gone", sum(|port| port.frames_undeliverable)),
        ] {
            if count > 0 {
                *drops.entry(reason).or_insert(0) += count;
            }
        }
        let mut status = Status {
            elapsed_s,
            is_overloaded: false,
            ports,
            frames_entered: counts.entered,
            frames_copied: counts.copied,
            frames_left: counts.left,
            frames_inside: counts.inside(),
            drops,
            retired: view.retired,
            links: view.links,
            mechanisms: view.mechanisms,
            protections: view.protections,
            timers: self.timers.status(),
            self_test: self.self_test.clone(),
            warnings: Vec::new(),
        };
        status.warnings = overloads(&status, self.options.slack_ns);
        status.is_overloaded = !status.warnings.is_empty();
        status.warnings.extend(self.fabric.capture_warnings());
        status.warnings.extend(self.self_test.iter().flat_map(|test| test.warnings.iter().cloned()));
        status
    }

    /// Ends the run and checks conservation; returns the last status and the results.
    pub fn finish(mut self) -> (Status, Outcome) {
        self.turn();
        self.fabric.end_captures();
        let status = self.status();
        (status, self.fabric.finish())
    }

    /// Starts to follow the carriers of the interfaces; links of interfaces without carrier start down.
    pub fn watch_carriers(&mut self, source: impl CarrierSource + 'static) {
        let carriers = Carriers::new(source);
        let seen = carriers.look_at(self.ports.iter().map(|port| port.interface.name()));
        self.carriers = Some(carriers);
        self.note_carriers(seen);
    }

    fn follow_carriers(&mut self, now_ns: u64) {
        let Some(carriers) = &mut self.carriers else { return };
        match carriers.changes(now_ns, self.ports.iter().map(|port| port.interface.name())) {
            Ok(changes) => self.note_carriers(changes),
            Err(_) => self.carriers = None,
        }
    }

    fn note_carriers(&mut self, seen: Vec<(String, bool)>) {
        for (name, has_carrier) in seen {
            let is_it = |port: &Port| port.failed.is_none() && port.interface.name() == name;
            if let Some(point) = self.ports.iter().position(is_it) {
                self.note_carrier(point, has_carrier);
            }
        }
    }

    /// Takes the link of a failed interface down until the interface is back.
    fn look_after_ports(&mut self, now_ns: u64) {
        let points = self.ports.len();
        if now_ns.saturating_sub(self.looked_at_ns).saturating_mul(points as u64) >= LOOK_EVERY_NS {
            self.looked_at_ns = now_ns;
            self.looks_at = (self.looks_at + 1) % points;
            self.look_at(self.looks_at);
        }
        for point in 0..self.ports.len() {
            let port = &mut self.ports[point];
            if let (Some(error), false) = (&port.failed, port.is_given_up) {
                let error = error.clone();
                port.is_given_up = true;
                self.note_carrier(point, false);
                self.notice(point, PortChange::Gone, error);
            }
        }
    }

    fn look_at(&mut self, point: usize) {
        let port = &mut self.ports[point];
        if port.is_lost_for_good {
            return;
        }
        if port.failed.is_none() {
            port.interface.look().unwrap_or_else(|error| port.fail(&error));
            return self.look_for_merged(point);
        }
        match port.interface.rejoin() {
            Ok(()) => self.welcome(point),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            Err(error) => {
                port.is_lost_for_good = error.kind() == io::ErrorKind::Unsupported;
                let before = port.failed.take();
                port.fail(&error);
                port.is_given_up = port.is_lost_for_good || port.failed == before;
                if port.is_lost_for_good {
                    self.notice(point, PortChange::Lost, error.to_string());
                }
            }
        }
    }

    /// Reports the first drop of a merged frame.
    fn look_for_merged(&mut self, point: usize) {
        let port = &mut self.ports[point];
        let merged = port.counters().frames_merged;
        if merged > 0 && !std::mem::replace(&mut port.has_told_merged, true) {
            self.notice(point, PortChange::Merged, format!("frames_merged = {merged}"));
        }
    }

    /// Resumes the use of an interface that was gone.
    fn welcome(&mut self, point: usize) {
        let port = &mut self.ports[point];
        port.failed = None;
        port.is_given_up = false;
        port.returns += 1;
        let name = port.interface.name();
        let seen = self.carriers.as_ref().map(|carriers| carriers.look_at(std::iter::once(name)));
        self.note_carrier(point, seen.is_none_or(|seen| seen.iter().all(|(_, has_carrier)| *has_carrier)));
        self.notice(point, PortChange::Back, String::new());
    }

    fn notice(&mut self, point: usize, change: PortChange, detail: String) {
        let node = self.fabric.points()[point].name.clone();
        let interface = self.ports[point].interface.name().to_owned();
        self.notices.push(Notice { node, interface, change, detail });
    }

    /// Records a changed carrier, and takes the link up or down accordingly.
    fn note_carrier(&mut self, point: usize, has_carrier: bool) {
        let port = &mut self.ports[point];
        if port.has_carrier == has_carrier {
            return;
        }
        port.has_carrier = has_carrier;
        port.carrier_losses += u64::from(!has_carrier);
        let link = self.fabric.link_of(point);
        let order = if has_carrier { Order::Repair } else { Order::Fail };
        self.fabric.command(&Command { link, order }).expect("the link of a point has an end here");
    }

    fn wall_ns(&self, at: Time) -> u64 {
        self.origin.0.saturating_add(at.as_ps() / 1_000)
    }
}

fn since(origin: MonotonicTime, at: MonotonicTime) -> Time {
    Time(at.0.saturating_sub(origin.0).saturating_mul(1_000))
}

fn port_status(port: &mut Port, fabric: &LiveFabric, point: usize) -> PortStatus {
    let kept = fabric.splits_because(point).map_or_else(|| port.interface.sends_whole(), |why| Err(why.to_owned()));
    PortStatus {
        node: fabric.points()[point].name.clone(),
        large_buffers: kept.unwrap_or_else(|why| format!("split: {why}")),
        interface: port.interface.name().to_owned(),
        mode: port.interface.mode().to_owned(),
        counters: port.counters(),
        departures: port.departures.status(),
        frames_undeliverable: port.frames_undeliverable,
        frames_left_to_kernel: port.frames_left_to_kernel,
        has_carrier: port.has_carrier && port.failed.is_none(),
        carrier_losses: port.carrier_losses,
        returns: port.returns,
        failed: port.failed.clone(),
    }
}
