//! A fabric between interfaces in memory, with a clock that the test moves.

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use hitless_live::fabric::{LiveFabric, LiveSettings};
use hitless_live::interfaces::{Interface, MonotonicTime};

use hitless_core::wire::frame::MacAddress;
use hitless_live::{Clock, Command, Driver, Options, Status};
use hitless_scenario::Scenario;
use hitless_simulation::Outcome;

use super::memory::{FarEnd, pair};

/// A clock that stands still until the test moves it.
#[derive(Clone)]
pub struct TestClock(Rc<Cell<u64>>);

impl Clock for TestClock {
    fn now(&self) -> MonotonicTime {
        MonotonicTime(self.0.get())
    }

    fn wait(&mut self, _ports: &[BorrowedFd<'_>], until: MonotonicTime) {
        self.0.set(self.0.get().max(until.0));
    }
}

pub struct Lab {
    driver: Driver<TestClock>,
    clock: TestClock,
    far_ends: Vec<FarEnd>,
}

impl Lab {
    pub fn new(hosts: &[&str], options: Options) -> Self {
        Self::build(&star(hosts), hosts, &[], options, (256, 1_024))
    }

    pub fn of(text: &str, points: &[&str]) -> Self {
        Self::build(text, points, &[], Options::default(), (256, 1_024))
    }

    /// Builds a lab in which station `n` is known to be behind the point `stations[n]`. The last argument is the number
    /// of places in the fabric and in each ring.
    pub fn build(
        text: &str,
        points: &[&str],
        stations: &[&str],
        options: Options,
        (frames, ring): (u32, usize),
    ) -> Self {
        let names = points.iter().map(|&name| name.to_owned()).collect();
        let known = (0..).zip(stations).map(|(number, &name)| (MacAddress(station(number)), name.to_owned()));
        let settings = LiveSettings { frames, stations: known.collect(), captures: true, ..LiveSettings::new(names) };
        let fabric = LiveFabric::new(scenario_of(text), &settings).unwrap_or_else(|error| panic!("{error}"));
        let pairs = (0..points.len()).map(|number| pair(&format!("memory{number}"), ring));
        let (interfaces, far_ends) =
            pairs.map(|(interface, far_end)| (Box::new(interface) as Box<dyn Interface + Send>, far_end)).unzip();
        let clock = TestClock(Rc::new(Cell::new(1_000_000_000)));
        Self { driver: Driver::new(fabric, interfaces, clock.clone(), options), clock, far_ends }
    }

    pub fn driver(&mut self) -> &mut Driver<TestClock> {
        &mut self.driver
    }

    pub fn far_end(&self, port: usize) -> &FarEnd {
        &self.far_ends[port]
    }

    /// Lets the bridge learn that station `n` is behind point `n`.
    pub fn know_stations(&mut self) {
        for port in 0..self.far_ends.len() {
            self.send(port, &frame(station(port as u8), station(port as u8), 60));
        }
        self.run_for(100_000);
        self.received();
    }

    pub fn send(&mut self, port: usize, bytes: &[u8]) {
        self.far_ends[port].send(self.clock.now(), bytes);
    }

    pub fn now(&self) -> MonotonicTime {
        self.clock.now()
    }

    pub fn turn(&mut self) {
        self.driver.turn();
    }

    pub fn stall(&mut self, ns: u64) {
        self.clock.0.set(self.clock.0.get() + ns);
    }

    /// Runs a turn each microsecond.
    pub fn run_for(&mut self, ns: u64) {
        let until = self.clock.0.get() + ns;
        while self.clock.0.get() < until {
            self.turn();
            self.stall(1_000);
        }
    }

    pub fn received(&self) -> Vec<Vec<Vec<u8>>> {
        self.far_ends.iter().map(FarEnd::receive).collect()
    }

    pub fn command(&mut self, text: &str) -> Result<(), String> {
        let command: Command = text.parse()?;
        self.driver.fabric().command(&command)
    }

    pub fn status(&mut self) -> Status {
        self.driver.status()
    }

    pub fn hosts(&self) -> usize {
        self.far_ends.len()
    }

    pub fn finish(self) -> Status {
        self.finish_with_results().0
    }

    pub fn finish_with_results(self) -> (Status, Outcome) {
        let (status, outcome) = self.driver.finish();
        assert_eq!(outcome.violations, [""; 0]);
        (status, outcome)
    }
}

pub fn scenario_of(text: &str) -> Scenario {
    hitless_scenario::check_for(text, "test.toml", hitless_scenario::Purpose::Live, hitless_mechanisms::builtin(), None)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// Hosts around one switch, with links of 1 Gbps.
pub fn star(hosts: &[&str]) -> String {
    graph("star", &["sw"], &hosts.iter().map(|&host| (host, "sw")).collect::<Vec<_>>())
}

/// These switches and links, of 1 Gbps, with a host at each other end.
pub fn graph(name: &str, switches: &[&str], ends: &[(&str, &str)]) -> String {
    let list = |names: Vec<String>| names.join(", ");
    let hosts = ends.iter().map(|(host, _)| host).filter(|host| !switches.contains(host));
    let link = |(a, b)| format!("{{ ends = [\"{a}\", \"{b}\"], rate = \"1 Gbps\", delay = \"1 us\" }}");
    format!(
        "name = \"{name}\"\n[topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [{}]\nlinks = [{}]\n",
        list(hosts.map(|host| format!("{host:?}")).collect()),
        list(switches.iter().map(|switch| format!("{switch:?}")).collect()),
        list(ends.iter().copied().map(link).collect())
    )
}

/// Two parts of a fabric in separate processes, and the wires between them: a port of each.
pub struct Apart<const WIRES: usize> {
    pub left: Lab,
    pub right: Lab,
    pub wires: [(usize, usize); WIRES],
}

impl<const WIRES: usize> Apart<WIRES> {
    /// Runs a turn of both every 5 us, and carries frames between them over the wires.
    pub fn run(&mut self, turns: usize) {
        for _ in 0..turns {
            self.left.turn();
            self.right.turn();
            for (left, right) in self.wires {
                self.left.far_end(left).receive().iter().for_each(|bytes| self.right.send(right, bytes));
                self.right.far_end(right).receive().iter().for_each(|bytes| self.left.send(left, bytes));
            }
            self.left.stall(5_000);
            self.right.stall(5_000);
        }
    }
}

pub fn station(number: u8) -> [u8; 6] {
    MacAddress([2, 0, 0, 0, 0, number]).0
}

/// A frame of `bytes` between two stations, of a local experimental type (IEEE 802, clause 9.2.4).
pub fn frame(from: [u8; 6], to: [u8; 6], bytes: usize) -> Vec<u8> {
    let mut frame: Vec<u8> = to.into_iter().chain(from).chain([0x88, 0xb5]).collect();
    frame.resize(bytes.max(14), 0xa5);
    frame
}
