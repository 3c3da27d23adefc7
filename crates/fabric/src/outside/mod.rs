//! The outside of a fabric: real frames that come in and go out at the nodes of a scenario that are real.
//!
//! In a simulation every node is made of software. In a live run some are *outside*: hosts, and switches that run
//! elsewhere. A frame that arrives at such a node's end of a link goes to an outbox; a frame that the node sends is an
//! arrival, put on the link towards the switches here. Everything between is the same code under the same event queue.

pub mod bridge;
pub mod decision;
pub mod frames;
pub mod points;
mod wire;

use hitless_switch::DropReason;
use hitless_wire::frame::{EtherType, FlowHashSeed, MacAddress};
use hitless_wire::link::{LinkFormat, RefusalCounters};
use hitless_wire::{Duration, HostId, Packet, Time};

use crate::scenario::{RankedBy, Scenario};

pub use bridge::{Bridge, BridgeCounters};
pub use decision::{Action, Decision};
pub use frames::{FrameInfo, FramePool, NoRoom};
pub(crate) use points::RealEnd;
pub use points::{Border, Point};
pub(crate) use wire::{control_packet, read, read_link, with_mark, with_shims, write_to_host, write_to_switch};

/// In place of a host: the packet is for all points but the one by which it came.
pub const EVERYONE: HostId = HostId(u32::MAX);

/// What a live run needs to know beside its scenario.
#[derive(Clone, Debug)]
pub struct OutsideSettings {
    /// The nodes (or links) that are real, in the order in which points are numbered.
    pub points: Vec<String>,
    /// How many frames may be in the fabric at once.
    pub frames: u32,
    /// The longest frame, without check sequence.
    pub frame_bytes: u16,
    /// Stations whose place is known: address, and name of a point.
    pub stations: Vec<(MacAddress, String)>,
    /// How many further stations may be learned.
    pub stations_learned: usize,
    /// After which time a learned station that is silent is forgotten (IEEE 802.1Q, table 8-6: 300 s).
    pub station_age: Duration,
    /// What is spoken on links to switches that run elsewhere, by point; [`Self::format_of`] for others.
    pub formats: Vec<(String, LinkFormat)>,
}

impl OutsideSettings {
    /// The usual settings for these points: 8,192 frames of up to 2,048 bytes.
    pub fn new(points: Vec<String>) -> Self {
        Self {
            points,
            frames: 8_192,
            frame_bytes: 2_048,
            stations: Vec::new(),
            stations_learned: 4_096,
            station_age: Duration::from_seconds(300),
            formats: Vec::new(),
        }
    }

    /// What is spoken with the switch behind a point: to everybody on the link, unless addresses are given.
    pub fn format_of(&self, point: &str) -> LinkFormat {
        let given = self.formats.iter().find(|(name, _)| name == point).map(|&(_, format)| format);
        given.unwrap_or(LinkFormat {
            ether_type: EtherType::EXPERIMENTAL_1,
            local: MacAddress([0x02, 0x68, 0x6c, 0, 0, 1]),
            remote: MacAddress::BROADCAST,
        })
    }
}

/// Sees what goes into a run and what comes of it: a recorder, or a comparison with a recording.
pub trait Witness: Send {
    /// A frame has come by a point and is handled at `at`. A run is a function of these and of the commands.
    fn arrival(&mut self, at: Time, point: u16, bytes: &[u8]);
    /// A command is carried out at `at`.
    fn command(&mut self, at: Time, command: &str);
    /// A switch has decided.
    fn decision(&mut self, decision: Decision);
    /// The interface of a point has refused a frame that left at `at`. The fabric takes it for sent.
    fn refusal(&mut self, _at: Time, _point: u16) {}
    /// The run ends at `at`.
    fn end(&mut self, _at: Time) {}
}

/// A packet that leaves.
#[derive(Clone, Copy, Debug)]
pub struct Departure {
    /// When its last bit arrives.
    pub at: Time,
    /// Where.
    pub point: u16,
    pub(crate) packet: Packet,
}

/// Why a frame was not let in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Refused {
    /// All places for frames are taken.
    PoolEmpty,
    /// It is longer than a place.
    TooLong,
    /// It has no whole Ethernet header.
    Malformed,
    /// The network card of its host is full.
    CardFull,
    /// Its destination is where it comes from.
    SameSide,
    /// It is none that a switch elsewhere may send; [`hitless_wire::link::Refusal`] says why.
    NotOfTheLink,
}

impl Refused {
    /// All reasons, in the order of their numbers.
    pub const ALL: [Refused; 6] = [
        Refused::PoolEmpty,
        Refused::TooLong,
        Refused::Malformed,
        Refused::CardFull,
        Refused::SameSide,
        Refused::NotOfTheLink,
    ];

    /// The reason in plain words.
    pub const fn name(self) -> &'static str {
        match self {
            Refused::PoolEmpty => "no room for a frame",
            Refused::TooLong => "frame too long",
            Refused::Malformed => "no Ethernet header",
            Refused::CardFull => "network card full",
            Refused::SameSide => "destination is where it comes from",
            Refused::NotOfTheLink => "no frame of the link",
        }
    }

    /// Whether a packet was lost by it. A bridge that keeps to itself what stays on one side loses nothing.
    pub const fn is_loss(self) -> bool {
        !matches!(self, Refused::SameSide)
    }
}

/// What became of frames. Packets without a frame (a mechanism's own) are not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FrameCounts {
    /// Frames that came.
    pub offered: u64,
    /// Not let in, by [`Refused`].
    pub refused: [u64; Refused::ALL.len()],
    /// Let in.
    pub entered: u64,
    /// Copies made in switches.
    pub copied: u64,
    /// Left the fabric.
    pub left: u64,
    /// Ended in switches, by [`DropReason`].
    pub ended: [u64; DropReason::COUNT],
    /// Spoilt by links.
    pub corrupted: u64,
    /// Lost on links that were down.
    pub lost_down: u64,
    /// Control frames of a switch elsewhere that carry no frame of a host.
    pub control: u64,
}

impl FrameCounts {
    /// Packets with a frame that must still be in the fabric.
    pub fn inside(&self) -> u64 {
        let gone = self.left + self.ended.iter().sum::<u64>() + self.corrupted + self.lost_down;
        self.entered + self.copied - gone
    }
}

/// No point.
const NOBODY: u16 = u16::MAX;

/// The outside of a run.
pub(crate) struct Outside {
    pub frames: FramePool,
    pub points: Vec<Point>,
    /// By directed link: the point to which it leads, or [`NOBODY`].
    behind: Vec<u16>,
    pub bridge: Bridge,
    pub outbox: Vec<Departure>,
    pub counts: FrameCounts,
    pub witness: Option<Box<dyn Witness>>,
    /// The time of the event, or of the command, that is being handled.
    pub now: Time,
    pub hash_seed: FlowHashSeed,
    /// Whether the code points of hosts are their packets' priority.
    pub ranks_by_dscp: bool,
    /// Frames refused at points to switches, by reason.
    pub link_refusals: RefusalCounters,
    /// What must always hold and did not: the first of it.
    pub violation: Option<String>,
}

impl Outside {
    /// # Errors
    /// A sentence: a station behind a point that does not exist.
    pub fn new(
        settings: &OutsideSettings,
        points: Vec<Point>,
        links: usize,
        scenario: &Scenario,
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
            ranks_by_dscp: scenario.host.marking.is_some_and(|marking| marking.by == RankedBy::Dscp),
            link_refusals: RefusalCounters::default(),
            violation: None,
        })
    }

    /// The point to which a link leads.
    pub fn behind(&self, link: u32) -> Option<u16> {
        let point = self.behind[link as usize];
        (point != NOBODY).then_some(point)
    }

    pub fn refuse(&mut self, reason: Refused) {
        self.counts.refused[reason as usize] += 1;
    }
}
