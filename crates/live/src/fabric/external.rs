//! The state of a live run about real nodes and their frames.

use hitless_core::wire::frame::FlowHashSeed;
use hitless_core::wire::link::{LinkHeaderSet, RefusalCounters};
use hitless_core::wire::{HostId, Packet, Time};
use hitless_scenario::{RankedBy, Scenario};

use super::bridge::Bridge;
use super::counts::{FrameCounts, Refused};
use super::decision::Decision;
use super::frames::FramePool;
use super::points::Point;
use super::settings::LiveSettings;

/// A destination that stands for all points except the point of arrival.
pub const EVERYONE: HostId = HostId(u32::MAX);

/// An observer of a run's inputs and decisions: a recorder, or the comparison with a recording.
pub trait Witness: Send {
    /// A frame has arrived at a point and is handled at `at`. A run is a function of these arrivals and of the
    /// commands.
    fn arrival(&mut self, at: Time, point: u16, bytes: &[u8]);
    /// A command is executed at `at`.
    fn command(&mut self, at: Time, command: &str);
    /// A switch has made a decision.
    fn decision(&mut self, decision: Decision);
    /// The interface of a point has refused a frame that left at `at`. The fabric treats it as sent.
    fn refusal(&mut self, _at: Time, _point: u16) {}
    fn end(&mut self, _at: Time) {}
}

/// A packet that leaves the fabric.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// Arrival time of its last bit.
    pub at: Time,
    pub point: u16,
    pub(super) packet: Packet,
}

/// Marks a link that does not lead to a point.
const NOBODY: u16 = u16::MAX;

/// The external side of a run.
pub(super) struct External {
    pub frames: FramePool,
    pub points: Vec<Point>,
    /// The point at the end of each directed link, or [`NOBODY`].
    behind: Vec<u16>,
    pub bridge: Bridge,
    pub outbox: Vec<Departure>,
    pub counts: FrameCounts,
    pub witness: Option<Box<dyn Witness>>,
    /// The time of the current event or command.
    pub now: Time,
    pub hash_seed: FlowHashSeed,
    /// Whether the code points of hosts determine their packets' priority.
    pub ranks_by_dscp: bool,
    /// Frames refused at points to switches, by reason.
    pub link_refusals: RefusalCounters,
    /// The headers of any link between switches.
    pub known: LinkHeaderSet,
    pub violation: Option<String>,
}

impl External {
    pub fn new(
        settings: &LiveSettings,
        points: Vec<Point>,
        links: usize,
        scenario: &Scenario,
        known: LinkHeaderSet,
    ) -> Result<Self, String> {
        let mut behind = vec![NOBODY; links];
        for (number, point) in points.iter().enumerate() {
            behind[point.outwards.index()] = number as u16;
        }
        let mut bridge = Bridge::new(settings.stations_learned, settings.station_age);
        for (address, name) in &settings.stations {
            let place = points.iter().position(|point| point.name == *name);
            let place = place.ok_or_else(|| format!("station {address} is behind '{name}', which is not a point"))?;
            bridge.give(*address, place as u16);
        }
        Ok(Self {
            frames: FramePool::new(settings.frames, settings.frame_bytes),
            points,
            behind,
            bridge,
            outbox: Vec::new(),
            counts: FrameCounts::default(),
            witness: None,
            now: Time::ZERO,
            hash_seed: FlowHashSeed(scenario.seed),
            ranks_by_dscp: scenario.host.priority_tagger.is_some_and(|tagger| tagger.by == RankedBy::Dscp),
            link_refusals: RefusalCounters::default(),
            known,
            violation: None,
        })
    }

    /// Returns the point at the end of a link.
    pub fn behind(&self, link: u32) -> Option<u16> {
        let point = self.behind[link as usize];
        (point != NOBODY).then_some(point)
    }

    pub fn refuse(&mut self, reason: Refused) {
        self.counts.refused[reason as usize] += 1;
    }
}
