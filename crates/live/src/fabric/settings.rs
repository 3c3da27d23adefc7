//! What a live run needs to know beside its scenario.

use hitless_core::wire::Duration;
use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::LinkFormat;

/// What a live run needs to know beside its scenario.
#[derive(Clone, Debug)]
pub struct LiveSettings {
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

impl LiveSettings {
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
