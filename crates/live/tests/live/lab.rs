//! A fabric between interfaces in memory, under a clock that the test moves.

use std::cell::Cell;
use std::os::fd::BorrowedFd;
use std::rc::Rc;

use hitless_interfaces::{Interface, MonotonicTime};
use hitless_live::fabric::LiveFabric;
use hitless_live::fabric::LiveSettings;
use hitless_live::memory::{FarEnd, pair};
use hitless_live::{Clock, Command, Driver, Options, Status};
use hitless_scenario::Scenario;
use hitless_simulation::Outcome;
use hitless_wire::frame::MacAddress;

/// A clock that stands still until somebody moves it.
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

/// Interfaces in memory, and their other ends.
pub fn interfaces(count: usize, ring: usize) -> (Vec<Box<dyn Interface + Send>>, Vec<FarEnd>) {
    let pairs = (0..count).map(|number| pair(&format!("memory{number}"), ring));
    pairs.map(|(interface, far_end)| (Box::new(interface) as Box<dyn Interface + Send>, far_end)).unzip()
}

impl Lab {
    pub fn new(hosts: &[&str], options: Options) -> Self {
        Self::build(&star(hosts), hosts, options, 256, 1_024)
    }

    pub fn with_frames(hosts: &[&str], options: Options, frames: u32) -> Self {
        Self::build(&star(hosts), hosts, options, frames, 1_024)
    }

    pub fn with_ring(hosts: &[&str], options: Options, ring: usize) -> Self {
        Self::build(&star(hosts), hosts, options, 256, ring)
    }

    pub fn build(text: &str, points: &[&str], options: Options, frames: u32, ring: usize) -> Self {
        Self::with_stations(text, points, &[], options, frames, ring)
    }

    /// Station `n` is known to be behind the point `stations[n]`.
    pub fn with_stations(
        text: &str,
        points: &[&str],
        stations: &[&str],
        options: Options,
        frames: u32,
        ring: usize,
    ) -> Self {
        let names = points.iter().map(|&name| name.to_owned()).collect();
        let known = (0..).zip(stations).map(|(number, &name)| (MacAddress(station(number)), name.to_owned()));
        let settings = LiveSettings { frames, stations: known.collect(), ..LiveSettings::new(names) };
        let fabric = LiveFabric::new(scenario_of(text), &settings).unwrap_or_else(|error| panic!("{error}"));
        let (interfaces, far_ends) = interfaces(points.len(), ring);
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

    pub fn turn(&mut self) {
        self.driver.turn();
    }

    pub fn stall(&mut self, ns: u64) {
        self.clock.0.set(self.clock.0.get() + ns);
    }

    /// Turns each microsecond.
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
    let names: Vec<String> = hosts.iter().map(|host| format!("\"{host}\"")).collect();
    let links: Vec<String> = hosts
        .iter()
        .map(|host| format!("{{ ends = [\"{host}\", \"sw\"], rate = \"1 Gbps\", delay = \"1 us\" }}"))
        .collect();
    format!(
        "name = \"star\"\n[topology]\nkind = \"graph\"\nhosts = [{}]\nswitches = [\"sw\"]\nlinks = [{}]\n",
        names.join(", "),
        links.join(", ")
    )
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
