//! The parts of a recording.

use hitless_core::wire::Duration;
use hitless_core::wire::frame::{EtherType, MacAddress};
use hitless_core::wire::link::LinkFormat;
use hitless_scenario::Purpose;
use hitless_scenario::kind::Registry;
use serde::{Deserialize, Serialize};

use crate::fabric::{LiveFabric, LiveSettings};

/// The first line of a recording.
pub(super) const MAGIC: &[u8] = b"hitless recording 1\n";

/// The types of records.
pub(super) mod tag {
    pub const ARRIVAL: u8 = 1;
    pub const COMMAND: u8 = 2;
    pub const DECISION: u8 = 3;
    pub const REFUSAL: u8 = 4;
    pub const END: u8 = 5;
}

/// The header of a recording: everything needed to build the run again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Header {
    pub version: String,
    /// The scenario with all defaults, as TOML.
    pub scenario: String,
    /// Names of the points, by number.
    pub points: Vec<String>,
    /// Number of places for frames.
    pub frames: u32,
    /// Length of a place.
    pub frame_bytes: u16,
    pub stations: Vec<(String, String)>,
    /// Maximum number of learned stations.
    pub stations_learned: usize,
    /// Age limit of learned stations.
    pub station_age_ps: u64,
    /// Formats of links to switches elsewhere.
    pub links: Vec<LinkEnd>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkEnd {
    pub point: String,
    pub ether_type: u16,
    /// The address of this end.
    pub local: String,
    /// The address of the other end.
    pub remote: String,
}

impl Header {
    /// Describes a run of `scenario` (with all defaults) with these settings.
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

    /// Builds the recorded fabric in its initial state. `registry` holds the kinds of its mechanisms.
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
            captures: false,
            formats: self.links.iter().map(link).collect::<Result<_, String>>()?,
        };
        LiveFabric::new(scenario, &settings)
    }
}

/// Parses an address such as "02:00:00:00:00:01".
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
