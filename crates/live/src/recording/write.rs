//! Records a run in a separate thread, with bounded memory.

use std::io::Write;
use std::sync::{Arc, Mutex, PoisonError};

use hitless_core::wire::Time;
use serde::Serialize;

use super::format::{Header, MAGIC, hash, put_number, tag};
use crate::background::BackgroundFile;
use crate::fabric::{Decision, Witness};

#[derive(Clone, Copy, Debug)]
pub struct RecorderOptions {
    /// Bytes kept of each frame; the rest is only hashed. Decisions depend on headers alone.
    pub kept_bytes: usize,
    /// Whether decisions are recorded, in addition to inputs.
    pub decisions: bool,
    /// Maximum number of pieces of 64 KiB that wait for the disk before the recording is cut.
    pub chunks: usize,
}

impl Default for RecorderOptions {
    fn default() -> Self {
        Self { kept_bytes: usize::MAX, decisions: true, chunks: 1_024 }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RecordingState {
    pub arrivals: u64,
    pub decisions: u64,
    /// Reason why the recording ended before the run.
    pub cut: Option<String>,
}

/// Writes the events that it witnesses. If the disk is too slow, the recording is cut and the run continues.
pub struct Recorder {
    options: RecorderOptions,
    file: BackgroundFile,
    last: Time,
    state: Arc<Mutex<RecordingState>>,
}

impl Recorder {
    /// Starts a recording in `out`.
    pub fn new<W: Write + Send + 'static>(
        mut out: W,
        header: &Header,
        options: RecorderOptions,
    ) -> std::io::Result<Self> {
        let json = serde_json::to_vec(header)?;
        let mut start = MAGIC.to_vec();
        put_number(&mut start, json.len() as u64);
        start.extend(json);
        out.write_all(&start)?;
        let file = BackgroundFile::new("recorder", options.chunks, move || Ok(out))?;
        Ok(Self { options, file, last: Time::ZERO, state: Arc::default() })
    }

    /// Returns a handle to the state, for the owner of the run.
    pub fn state(&self) -> Arc<Mutex<RecordingState>> {
        Arc::clone(&self.state)
    }

    fn begin(&mut self, tag: u8, at: Time) -> bool {
        if !self.file.is_open() {
            return false;
        }
        self.file.chunk().push(tag);
        put_number(self.file.chunk(), at.saturating_since(self.last).as_ps());
        self.last = self.last.max(at);
        true
    }

    fn number(&mut self, number: u64) {
        put_number(self.file.chunk(), number);
    }

    fn note(&self, note: impl FnOnce(&mut RecordingState)) {
        note(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn hand_over_when_full(&mut self) {
        if self.file.is_chunk_full() && !self.file.hand_over() {
            self.file.cut();
            self.note(|state| state.cut = Some("the disk did not keep up, or refused".into()));
        }
    }

    /// Waits for the writing thread.
    fn close(&mut self) {
        if let Err(error) = self.file.close() {
            self.note(|state| state.cut = Some(format!("the recording could not be written: {error}")));
        }
    }
}

impl Witness for Recorder {
    fn arrival(&mut self, at: Time, point: u16, bytes: &[u8]) {
        if !self.begin(tag::ARRIVAL, at) {
            return;
        }
        let (kept, rest) = bytes.split_at(bytes.len().min(self.options.kept_bytes));
        self.number(point.into());
        self.number(bytes.len() as u64);
        self.number(kept.len() as u64);
        self.file.chunk().extend_from_slice(kept);
        if !rest.is_empty() {
            self.file.chunk().extend_from_slice(&hash(rest).to_le_bytes());
        }
        self.note(|state| state.arrivals += 1);
        self.hand_over_when_full();
    }

    fn command(&mut self, at: Time, command: &str) {
        if self.begin(tag::COMMAND, at) {
            self.number(command.len() as u64);
            self.file.chunk().extend_from_slice(command.as_bytes());
            self.hand_over_when_full();
        }
    }

    fn decision(&mut self, decision: Decision) {
        if !self.options.decisions || !self.begin(tag::DECISION, decision.at) {
            return;
        }
        self.number(decision.packet);
        self.number(decision.switch.into());
        self.file.chunk().push(decision.action.number());
        self.number(decision.port.0.into());
        self.file.chunk().push(decision.queue.0);
        self.note(|state| state.decisions += 1);
        self.hand_over_when_full();
    }

    fn refusal(&mut self, at: Time, point: u16) {
        if self.begin(tag::REFUSAL, at) {
            self.number(point.into());
            self.hand_over_when_full();
        }
    }

    fn end(&mut self, at: Time) {
        if self.begin(tag::END, at) {
            self.file.chunk().push(0);
        }
        self.close();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.close();
    }
}
