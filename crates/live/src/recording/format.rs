//! The parts of a recording.

use hitless_core::wire::Duration;
use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::LinkFormat;
use hitless_scenario::Purpose;
use hitless_scenario::kind::Registry;
use serde::{Deserialize, Serialize};

use crate::fabric::LiveFabric;
use crate::fabric::LiveSettings;

/// The first line of a recording.
pub(super) const MAGIC: &[u8] = b"hitless recording 1\n";

/// What a record is.
pub(super) mod tag {
    pub const ARRIVAL: u8 = 1;
    pub const COMMAND: u8 = 2;
    pub const DECISION: u8 = 3;
    pub const REFUSAL: u8 = 4;
    pub const END: u8 = 5;
}

/// The header of a recording: all that is needed to build the run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    /// The version that recorded.
    pub version: String,
    /// The scenario with every default spelled out, as TOML.
    pub scenario: String,
    /// The points, by number.
    pub points: Vec<String>,
    /// Places for frames, and their length.
    pub frames: u32,
    /// See `frames`.
    pub frame_bytes: u16,
    /// Stations whose place was given.
    pub stations: Vec<(String, String)>,
    /// How many further stations could be learned.
    pub stations_learned: usize,
    /// After what silence they are forgotten.
    pub station_age_ps: u64,
    /// What was spoken with switches elsewhere.
    pub links: Vec<LinkEnd>,
}

/// A link to a switch elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEnd {
    /// Its point.
    pub point: String,
    /// Type of its frames.
    pub ether_type: u16,
    /// The address here.
    pub local: String,
    /// The address there.
    pub remote: String,
}

impl Header {
    /// Of a run of `scenario` (with every default spelled out) with these settings.
    pub fn new(scenario: String, settings: &LiveSettings) -> Self {
        let link = |(point, format): &(String, LinkFormat)| LinkEnd {
            point: point.clone(),
            ether_type: format.ether_type.0,
            local: format.local.to_string(),
            remote: format.remote.to_string(),
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            scenario,
            points: settings.points.clone(),
            frames: settings.frames,
            frame_bytes: settings.frame_bytes,
            stations: settings.stations.iter().map(|(address, point)| (address.to_string(), point.clone())).collect(),
            stations_learned: settings.stations_learned,
            station_age_ps: settings.station_age.as_ps(),
            links: settings.formats.iter().map(link).collect(),
        }
    }

    /// The fabric that was recorded, as it was at its start. `registry` has the kinds of mechanisms that it may run.
    ///
    /// # Errors
    /// A sentence: a scenario or an address that this version does not take.
    pub fn build(&self, registry: &Registry) -> Result<LiveFabric, String> {
        let scenario = hitless_scenario::check_for(&self.scenario, "recording", Purpose::Live, registry, None)
            .map_err(|error| error.to_string())?;
        let station = |(address, point): &(String, String)| Ok((mac_address(address)?, point.clone()));
        let link = |end: &LinkEnd| {
            let (local, remote) = (mac_address(&end.local)?, mac_address(&end.remote)?);
            Ok((end.point.clone(), LinkFormat { ether_type: EtherType(end.ether_type), local, remote }))
        };
        let settings = LiveSettings {
            points: self.points.clone(),
            frames: self.frames,
            frame_bytes: self.frame_bytes,
            stations: self.stations.iter().map(station).collect::<Result<_, String>>()?,
            stations_learned: self.stations_learned,
            station_age: Duration(self.station_age_ps),
            formats: self.links.iter().map(link).collect::<Result<_, String>>()?,
        };
        LiveFabric::new(scenario, &settings)
    }
}

/// The address that a text such as "02:00:00:00:00:01" means.
///
/// # Errors
/// A sentence.
pub fn mac_address(text: &str) -> Result<MacAddress, String> {
    let byte = |part: &str| u8::from_str_radix(part, 16).ok().filter(|_| part.len() == 2);
    let bytes = text.split(':').map(byte).collect::<Option<Vec<u8>>>();
    let address = bytes.and_then(|bytes| bytes.try_into().ok()).map(MacAddress);
    address.ok_or_else(|| format!("'{text}' is no Ethernet address, as 02:00:00:00:00:01"))
}

/// Appends a number in groups of 7 bits.
pub(super) fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

/// FNV-1a over 64 bits.
pub(super) fn hash(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, &byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3))
}
