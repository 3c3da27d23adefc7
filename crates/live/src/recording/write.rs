//! Records a run in a separate thread, with bounded memory.

use std::io::Write;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hitless_core::wire::Time;
use serde::Serialize;

use super::format::{Header, MAGIC, hash, put_number, tag};
use crate::fabric::{Decision, Witness};

#[derive(Clone, Copy, Debug)]
pub struct RecorderOptions {
    /// Bytes kept of each frame; the rest is only hashed. Decisions depend on headers alone.
    pub kept_bytes: usize,
    /// Whether decisions are recorded, in addition to inputs.
    pub decisions: bool,
    /// Maximum number of chunks of [`CHUNK_BYTES`] that wait for the disk before the recording is cut.
    pub chunks: usize,
}

/// Size of the pieces that are passed to the writing thread.
const CHUNK_BYTES: usize = 64 * 1_024;

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
    chunk: Vec<u8>,
    last: Time,
    /// `None` after the end of the recording.
    chunks: Option<SyncSender<Vec<u8>>>,
    writer: Option<JoinHandle<std::io::Result<()>>>,
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
        let (chunks, waiting) = sync_channel(options.chunks);
        let writer = thread::Builder::new().name("recorder".into()).spawn(move || write_chunks(out, &waiting))?;
        Ok(Self {
            options,
            chunk: Vec::with_capacity(2 * CHUNK_BYTES),
            last: Time::ZERO,
            chunks: Some(chunks),
            writer: Some(writer),
            state: Arc::default(),
        })
    }

    /// Returns a handle to the state, for the owner of the run.
    pub fn state(&self) -> Arc<Mutex<RecordingState>> {
        Arc::clone(&self.state)
    }

    fn begin(&mut self, tag: u8, at: Time) -> bool {
        if self.chunks.is_none() {
            return false;
        }
        self.chunk.push(tag);
        put_number(&mut self.chunk, at.saturating_since(self.last).as_ps());
        self.last = self.last.max(at);
        true
    }

    fn number(&mut self, number: u64) {
        put_number(&mut self.chunk, number);
    }

    fn note(&self, note: impl FnOnce(&mut RecordingState)) {
        note(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn hand_over_when_full(&mut self) {
        if self.chunk.len() >= CHUNK_BYTES {
            self.hand_over();
        }
    }

    fn hand_over(&mut self) {
        let chunk = std::mem::replace(&mut self.chunk, Vec::with_capacity(2 * CHUNK_BYTES));
        let Some(chunks) = &self.chunks else { return };
        if chunks.try_send(chunk).is_err() {
            self.chunks = None;
            self.note(|state| state.cut = Some("the disk did not keep up, or refused".into()));
        }
    }

    /// Waits for the writing thread.
    fn close(&mut self) {
        self.chunks = None;
        let Some(writer) = self.writer.take() else { return };
        let result = writer.join().unwrap_or_else(|_| Err(std::io::Error::other("the writing thread failed")));
        if let Err(error) = result {
            self.note(|state| state.cut = Some(format!("the recording could not be written: {error}")));
        }
    }
}

fn write_chunks<W: Write>(mut out: W, chunks: &Receiver<Vec<u8>>) -> std::io::Result<()> {
    while let Ok(chunk) = chunks.recv() {
        out.write_all(&chunk)?;
    }
    out.flush()
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
        self.chunk.extend_from_slice(kept);
        if !rest.is_empty() {
            self.chunk.extend_from_slice(&hash(rest).to_le_bytes());
        }
        self.note(|state| state.arrivals += 1);
        self.hand_over_when_full();
    }

    fn command(&mut self, at: Time, command: &str) {
        if self.begin(tag::COMMAND, at) {
            self.number(command.len() as u64);
            self.chunk.extend_from_slice(command.as_bytes());
            self.hand_over_when_full();
        }
    }

    fn decision(&mut self, decision: Decision) {
        if !self.options.decisions || !self.begin(tag::DECISION, decision.at) {
            return;
        }
        self.number(decision.packet);
        self.number(decision.switch.into());
        self.chunk.push(decision.action.number());
        self.number(decision.port.0.into());
        self.chunk.push(decision.queue.0);
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
            self.chunk.push(0);
            self.hand_over();
        }
        self.close();
    }
}

impl Drop for Recorder {
    fn drop(&mut self) {
        self.hand_over();
        self.close();
    }
}
