//! `[[link]]` and `[[failure]]`: what goes wrong with a link, and when. `failure_file`: a list of failures.

use std::path::Path;

use hitless_core::settings::quantity::{Optional, Text};
use hitless_core::settings::{LineError, without_byte_order_mark};
use hitless_core::wire::{Duration, Time};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::network::loss::LossModel;

/// Impairments of one link in one direction, or in both.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkImpairment {
    /// The link by its two nodes: "sw2->sw6" in that direction, "sw2<->sw6" in both. "#1" at the end names the second
    /// of several parallel links.
    pub name: String,
    /// Which frames are corrupted from the start of the run.
    #[serde(default)]
    pub loss: LossModel,
    /// Changes of the loss during the run, in order of time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<LossChange>,
    /// When the link goes down and comes up again, in order of time. It is up at the start. Nobody detects it: failures
    /// that are detected and repaired are `[[failure]]`s.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub schedule: Vec<StateChange>,
}

/// A change of the loss.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LossChange {
    /// When.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// What the loss is from then on.
    pub loss: LossModel,
}

/// A link going down or coming up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StateChange {
    /// When.
    #[serde(with = "Text::<Time>")]
    pub at: Time,
    /// What it does.
    pub state: LinkState,
}

/// Whether a link carries frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LinkState {
    /// It carries frames.
    Up,
    /// It carries nothing; what is on the wire is lost.
    Down,
}

/// Failures of one link, both directions at once. What detects and repairs them is `[recovery]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LinkFailure {
    /// The link by its two nodes, "sw6<->sw10": a failed link is dead both ways.
    pub link: String,
    /// When it fails for the first time.
    #[serde(with = "Text::<Time>")]
    pub first: Time,
    /// Time between two failures, from start to start; left out: it fails once.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub every: Option<Duration>,
    /// How many failures; left out: to the end of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub count: Option<u64>,
    /// Each failure comes up to this much later, at random.
    #[serde(default, with = "Text::<Duration>")]
    pub jitter: Duration,
    /// How long the link stays dead. Left out: until the recovery scheme "same-port" has repaired it. With that scheme
    /// a longer time than it needs may be given, which then is the time that the repair takes in all.
    #[serde(default, with = "Optional::<Duration>", skip_serializing_if = "Option::is_none")]
    pub outage: Option<Duration>,
    /// The line of the file that it was read from, until it has been checked.
    #[serde(skip)]
    pub line: Option<usize>,
}

/// The ending of a file with failures.
const FAILURES_ENDING: &str = ".failures";

/// Reads a file with a line for each failure, `link first_ns outage_ns`; an outage of `-` ends with the repair.
/// The path is relative to `folder`.
///
/// # Errors
/// The file that cannot be read, or the first line that is not as it must be.
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
    /// How many failures there are; `None`: no end.
    pub fn times(&self) -> Option<u64> {
        if self.every.is_none() { Some(1) } else { self.count }
    }

    /// When failure `number` (from 0) comes at the earliest; beyond the range of time, the end of it.
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
