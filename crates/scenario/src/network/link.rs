//! `[[link]]` and `[[failure]]`: impairments and failures of links, with their times. `failure_file`: a list of
//! failures.

use std::path::Path;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::settings::{LineError, without_byte_order_mark};
use hitless_core::wire::{BitRate, Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::loss::{ErrorCorrection, LossModel};
use crate::network::topology::Topology;
use crate::network::topology::select::select_links;

/// Rate, delay and impairments of a link, in one or both directions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkImpairment {
    /// Name of the link by its two nodes: "sw2->sw6" for that direction, "sw2<->sw6" for both. "#1" at the end names
    /// the second of several parallel links.
    pub name: String,
    /// Rate; left out: as in `[topology]`. Everything that follows from the rate of a link follows from this one.
    #[serde(default, with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay; left out: as in `[topology]`.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
    /// Forward error correction with its latency; left out: as in `[topology]`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fec: Option<ErrorCorrection>,
    /// Loss model from the start of the run, which decides which frames are corrupted.
    #[serde(default)]
    pub loss: LossModel,
    /// Changes of the rate, the delay and the loss during the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LinkChange>,
    /// Times at which the link goes down and comes up again, in order. It is up at the start. Failure detection does
    /// not see these changes; for failures that are detected and repaired use `[[failure]]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<StateChange>,
}

impl LinkImpairment {
    /// Returns whether rate or delay change during the run.
    pub fn changes_shape(&self) -> bool {
        self.changes.iter().any(|change| change.rate.is_some() || change.delay.is_some())
    }

    /// Returns whether the link keeps every frame, and its rate and delay.
    pub fn is_faultless(&self) -> bool {
        self.losses().all(LossModel::loses_nothing) && self.schedule.is_empty() && !self.changes_shape()
    }

    /// Returns all loss models of the run.
    pub fn losses(&self) -> impl Iterator<Item = &LossModel> {
        std::iter::once(&self.loss).chain(self.changes.iter().filter_map(|change| change.loss.as_ref()))
    }

    /// Gives the named directions of `topology` their rate, delay and error correction. An unknown name is ignored.
    pub fn shape(&self, topology: &mut Topology) {
        for link in select_links(topology, &self.name).unwrap_or_default() {
            topology.set_spec(link, self.rate, self.delay);
            if let Some(fec) = self.fec {
                topology.set_fec(link, fec);
            }
            let changes = self.changes.iter().filter(|change| change.rate.is_some() || change.delay.is_some());
            changes.for_each(|change| topology.note_change(link, change.rate, change.delay));
        }
    }
}

/// A change of a link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkChange {
    /// Time of the change.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// Loss model after the change; left out: as before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loss: Option<LossModel>,
    /// Rate of the frames that begin after the change; left out: as before.
    #[serde(default, with = "Optional::<BitRate>", skip_serializing_if = "Option::is_none")]
    pub rate: Option<BitRate>,
    /// Propagation delay of the frames that begin after the change; left out: as before. When it shrinks, the sender
    /// waits, so that its next frame arrives directly after the frames in flight.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub delay: Option<Duration>,
}

/// A link going down or coming up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateChange {
    /// Time of the change.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// New state of the link.
    pub state: LinkState,
}

/// Whether a link carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// The link carries frames.
    Up,
    /// The link carries nothing, and frames on the wire are lost.
    Down,
}

/// Failures of a link, always in both directions. `[recovery]` configures their detection and repair.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFailure {
    /// Name of the link by its two nodes, "sw6<->sw10": a failed link is dead in both directions.
    pub link: String,
    /// Time of the first failure.
    #[serde(with = "Text::<Time>")]
    pub first: Time,
    /// Time between the starts of two failures; left out: it fails once.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// Number of failures; left out: until the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Maximum random delay that is added to the time of each failure.
    #[serde(default, with = "Text::<Duration>")]
    pub jitter: Duration,
    /// Duration of the outage. Left out: until the recovery scheme "same-port" has repaired the link. With that scheme
    /// the outage can be set to a longer time than the repair needs, and the repair then takes that time in total.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub outage: Option<Duration>,
    /// Line of the failure file, until it has been checked.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// Extension of files with failures.
const FAILURES_ENDING: &str = ".failures";

/// Reads a file with one failure per line, `link first_ns outage_ns`; an outage of `-` lasts until the repair. The path
/// is relative to `folder`.
pub fn read_failures(folder: &Path, file: &str) -> Result<Vec<LinkFailure>, String> {
    if !file.ends_with(FAILURES_ENDING) {
        return Err(format!("must end in \"{FAILURES_ENDING}\""));
    }
    let path = folder.join(file);
    let text = std::fs::read_to_string(&path).map_err(|error| {
        format!("{} cannot be read: {error}; the path is relative to the folder of the scenario", path.display())
    })?;
    parse_failures(&text).map_err(|error| format!("{}, {error}", path.display()))
}

fn parse_failures(text: &str) -> Result<Vec<LinkFailure>, LineError> {
    let lines = (1..).zip(without_byte_order_mark(text).lines()).map(|(number, line)| (number, line.trim()));
    let failures = lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'));
    failures.map(|(line, text)| read_line(text, line).map_err(|rule| LineError { line, rule })).collect()
}

fn read_line(text: &str, line: usize) -> Result<LinkFailure, String> {
    let ps = |ns: &str| ns.parse::<u64>().ok().and_then(|ns| ns.checked_mul(1_000));
    let words: Vec<&str> = text.split_whitespace().collect();
    let read = match *words.as_slice() {
        [link, first, "-"] => ps(first).map(|first| (link, first, None)),
        [link, first, outage] => ps(first).zip(ps(outage)).map(|(first, outage)| (link, first, Some(outage))),
        _ => None,
    };
    let (link, first, outage) = read.ok_or_else(|| {
        format!("must be `link first_ns outage_ns`, as in `sw6<->sw10 5000000 1000000`, not '{text}'")
    })?;
    Ok(LinkFailure {
        link: link.to_owned(),
        first: Time(first),
        every: None,
        count: None,
        jitter: Duration::ZERO,
        outage: outage.map(Duration),
        line: Some(line),
    })
}

impl LinkFailure {
    /// Returns the number of failures; `None` if they never end.
    pub fn times(&self) -> Option<u64> {
        if self.every.is_none() { Some(1) } else { self.count }
    }

    /// Returns the earliest time of failure `number` (from 0), saturating at the end of the range.
    pub fn earliest(&self, number: u64) -> Time {
        let every_ps = self.every.unwrap_or(Duration::ZERO).as_ps();
        Time(self.first.as_ps().saturating_add(every_ps.saturating_mul(number)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_failures() {
        let failures = parse_failures("\u{feff}# rack 7\r\n\r\na<->b 5000 1000\r\nb<->c 7 -\r\n").expect("it is sound");
        let told: Vec<_> = failures.iter().map(|one| (one.link.as_str(), one.first, one.outage, one.line)).collect();
        let expected =
            [("a<->b", Time(5_000_000), Some(Duration::from_us(1)), Some(3)), ("b<->c", Time(7_000), None, Some(4))];
        assert_eq!(told, expected);
    }

    #[test]
    fn a_bad_line_is_named() {
        for text in ["a<->b 5000", "a<->b x 1000", "a<->b 5 6 7", "a<->b 18446744073709551615 1"] {
            let error = parse_failures(&format!("\n{text}")).expect_err(text);
            assert_eq!(error.line, 2, "{error}");
        }
    }
}
