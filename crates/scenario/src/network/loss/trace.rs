//! Recorded losses: lines of `arrived lost`, two whole numbers.
//!
//! `9812 1` means that 9,812 frames arrive and the next one is lost. Lines follow each other; either number can be
//! zero. Empty lines and lines that begin with `#` are ignored. So a list of the numbers of lost frames becomes a trace
//! by its differences, and a sequence of good and bad frames by its runs.

use std::sync::Arc;

use hitless_core::engine::TraceHash;
use hitless_core::settings::{LineError, input, without_byte_order_mark};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Extension of files with a loss trace.
const TRACE_ENDING: &str = ".losses";

/// Recorded losses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct TraceLoss {
    /// Path of a file that ends in ".losses", relative to the scenario. Its lines are two whole numbers, `arrived
    /// lost`: "9812 1" means that 9,812 frames arrive and the next one is lost. Lines that begin with # are ignored.
    pub file: String,
    /// Losses after the end of the trace.
    #[serde(default)]
    pub at_end: TraceEnd,
    /// Digest of the file's numbers, as in the effective configuration. If given, a file with other numbers is refused.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// Contents of the file.
    #[serde(skip)]
    pub trace: LossTrace,
}

/// Losses after the end of a trace.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceEnd {
    /// Repeat the trace.
    #[default]
    Repeat,
    /// Lose no more frames.
    Stop,
}

impl TraceLoss {
    /// Reads the file; the path is relative to `folder`.
    pub fn read(&mut self, folder: &std::path::Path) -> Result<(), (&'static str, String)> {
        self.trace = read_trace(folder, &self.file).map_err(|rule| ("file", rule))?;
        let digest = self.trace.digest();
        match self.digest.replace(digest.clone()) {
            Some(given) if given != digest => {
                Err(("digest", format!("is not \"{given}\" but \"{digest}\": the file has other numbers now")))
            }
            _ => Ok(()),
        }
    }
}

fn read_trace(folder: &std::path::Path, file: &str) -> Result<LossTrace, String> {
    if !file.ends_with(TRACE_ENDING) {
        return Err(format!("must end in \"{TRACE_ENDING}\""));
    }
    let path = folder.join(file);
    let bytes = input::read(&path).map_err(|error| {
        format!("{} cannot be read: {error}; the path is relative to the folder of the scenario", path.display())
    })?;
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = &error.as_bytes()[..error.utf8_error().valid_up_to()];
        let line = 1 + good.iter().filter(|byte| **byte == b'\n').count();
        format!("{}, line {line}: must be text in UTF-8", path.display())
    })?;
    LossTrace::parse(&text).map_err(|error| format!("{}, {error}", path.display()))
}

/// A number of frames that arrive, followed by a number of lost ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, hitless_core::state::Value)]
struct Run {
    arrived: u64,
    lost: u64,
}

/// A recorded sequence of losses with at least one frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossTrace {
    runs: Arc<[Run]>,
    frames: u64,
    lost: u64,
}

impl LossTrace {
    /// Parses a trace.
    pub fn parse(text: &str) -> Result<Self, LineError> {
        let (mut runs, mut frames, mut lost) = (Vec::new(), 0_u64, 0_u64);
        for (number, line) in (1..).zip(without_byte_order_mark(text).lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let fail = |rule| LineError { line: number, rule };
            let run = read_line(line).map_err(fail)?;
            let length = run.arrived.checked_add(run.lost).and_then(|length| frames.checked_add(length));
            frames = length.ok_or_else(|| fail("the frames of the trace are more than 64 bits can count".into()))?;
            lost += run.lost;
            runs.push(run);
        }
        if frames == 0 {
            return Err(LineError { line: 0, rule: "a trace has at least one frame, as in `9812 1`".into() });
        }
        assert!(lost <= frames, "{lost} of {frames} frames are lost");
        Ok(Self { runs: runs.into(), frames, lost })
    }

    /// Number of frames in the trace.
    pub fn frames(&self) -> u64 {
        self.frames
    }

    /// Returns a hash of the numbers as 16 digits, which detects changes but not forgery.
    pub fn digest(&self) -> String {
        let mut hash = TraceHash::default();
        self.runs.iter().for_each(|run| hash.record(run.arrived, run.lost));
        format!("{:016x}", hash.value())
    }

    /// Number of lost frames in the trace.
    pub fn lost(&self) -> u64 {
        self.lost
    }
}

fn read_line(line: &str) -> Result<Run, String> {
    let digits = |word: &str| word.bytes().all(|byte| byte.is_ascii_digit());
    let number = |word: &str| word.parse().ok().filter(|_| digits(word));
    let numbers: Option<Vec<u64>> = line.split_whitespace().map(number).collect();
    match numbers.as_deref() {
        Some(&[arrived, lost]) => Ok(Run { arrived, lost }),
        _ => Err(format!("must be two whole numbers `arrived lost`, not '{}'", shortened(line))),
    }
}

/// Shortens a line for a message.
fn shortened(line: &str) -> String {
    const CHARACTERS: usize = 40;
    let mut shown: String = line.chars().take(CHARACTERS).collect();
    if line.chars().nth(CHARACTERS).is_some() {
        shown.push_str("...");
    }
    shown
}

/// A trace being played, a step for each frame.
#[derive(Clone, Debug, hitless_core::state::State)]
pub(super) struct Playback {
    #[configured]
    trace: LossTrace,
    #[configured]
    at_end: TraceEnd,
    /// Index of the run that follows `rest`.
    next: usize,
    rest: Run,
}

impl Playback {
    pub fn new(trace: LossTrace, at_end: TraceEnd) -> Self {
        Self { trace, at_end, next: 0, rest: Run { arrived: 0, lost: 0 } }
    }

    /// Returns whether the next frame is lost.
    #[inline]
    pub fn strikes(&mut self) -> bool {
        loop {
            if self.rest.arrived > 0 {
                self.rest.arrived -= 1;
                return false;
            }
            if self.rest.lost > 0 {
                self.rest.lost -= 1;
                return true;
            }
            if !self.advance() {
                return false;
            }
        }
    }

    /// Takes the next run; returns false at the end.
    fn advance(&mut self) -> bool {
        if self.next == self.trace.runs.len() && self.at_end == TraceEnd::Repeat {
            self.next = 0;
        }
        let Some(&run) = self.trace.runs.get(self.next) else { return false };
        self.rest = run;
        self.next += 1;
        true
    }
}
