use hitless_core::wire::Duration;
use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::LinkFormat;

/// Settings of a live run, in addition to its scenario.
#[derive(Clone, Debug)]
pub struct LiveSettings {
    /// The real nodes (or links), in the order of their points.
    pub points: Vec<String>,
    /// Maximum number of frames in the fabric.
    pub frames: u32,
    /// Maximum length of a frame, without check sequence.
    pub frame_bytes: u16,
    /// Configured stations: address, and name of a point.
    pub stations: Vec<(MacAddress, String)>,
    pub stations_learned: usize,
    /// Age limit of a learned station (IEEE 802.1Q, table 8-6: 300 s).
    pub station_age: Duration,
    /// Whether the scenario's `[[measure.capture]]` are kept.
    pub captures: bool,
    /// Formats of links to switches that run elsewhere, by point; [`Self::format_of`] for others.
    pub formats: Vec<(String, LinkFormat)>,
}

impl LiveSettings {
    /// Makes settings with defaults: 8,192 frames of up to 2,048 bytes.
    pub fn new(points: Vec<String>) -> Self {
        Self {
            points,
            frames: 8_192,
            frame_bytes: 2_048,
            stations: Vec::new(),
            stations_learned: 4_096,
            station_age: Duration::from_seconds(300),
            captures: false,
            formats: Vec::new(),
        }
    }

    /// Returns the format for the switch behind a point; the default is sent to the broadcast address.
    pub fn format_of(&self, point: &str) -> LinkFormat {
        let given = self.formats.iter().find(|(name, _)| name == point).map(|&(_, format)| format);
        given.unwrap_or(LinkFormat {
            ether_type: EtherType::EXPERIMENTAL_1,
            local: MacAddress([0x02, 0x68, 0x6c, 0, 0, 1]),
            remote: MacAddress::BROADCAST,
        })
    }
}
