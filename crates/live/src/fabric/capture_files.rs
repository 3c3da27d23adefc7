//! The files of captures, which grow during a live run.

use std::io::{self, Write};
use std::sync::Arc;

use hitless_core::wire::{Duration, Time};
use hitless_simulation::results::{CaptureCounts, CaptureFile};

use crate::background::BackgroundFile;

/// Maximum number of pieces of 64 KiB of a file that wait for the disk, as in a recording.
pub const CAPTURE_CHUNKS: usize = 1_024;
/// Time between two calls that collect captured packets: the driver's maximum sleep.
const COLLECT_EVERY: Duration = Duration::from_ms(5);
/// Maximum age of bytes that were not passed to the disk, so that a file can be read during the run.
const HAND_OVER_EVERY: Duration = Duration::from_ms(500);

/// Opens the file of the capture with this name.
pub type OpenCapture = dyn Fn(&str) -> io::Result<Box<dyn Write>> + Send + Sync;

/// The files of a run.
pub struct CaptureFiles {
    open: Arc<OpenCapture>,
    /// Maximum number of pieces of a file that wait for the disk.
    chunks: usize,
    /// By number of the capture.
    names: Vec<String>,
    /// Empty before the first call of [`Self::begin`].
    files: Vec<Result<BackgroundFile, String>>,
    collected_at: Time,
    handed_over_at: Time,
    /// Set at the end of the captures.
    counts: Vec<CaptureCounts>,
}

impl CaptureFiles {
    pub fn new(names: Vec<String>, open: Arc<OpenCapture>, chunks: usize) -> Self {
        let (files, counts) = Default::default();
        Self { open, chunks, names, files, collected_at: Time::ZERO, handed_over_at: Time::ZERO, counts }
    }

    pub fn is_due(&self, now: Time) -> bool {
        now >= self.collected_at + COLLECT_EVERY
    }

    /// Prepares for packets. The first call starts the threads of the files: the caller has given up its privileges by
    /// then.
    pub fn begin(&mut self, now: Time) {
        self.collected_at = now;
        if !self.files.is_empty() {
            return;
        }
        let begin = |name: &String| {
            let (open, of) = (Arc::clone(&self.open), name.clone());
            let file = BackgroundFile::new("capture", self.chunks, move || open(&of));
            file.map_err(|error| format!("the capture {name} cannot be written: {error}"))
        };
        self.files = self.names.iter().map(begin).collect();
    }

    /// Appends a block to a file; returns whether there was room.
    pub fn put(&mut self, capture: usize, bytes: &[u8]) -> bool {
        self.files[capture].as_mut().is_ok_and(|file| file.put(bytes))
    }

    pub fn hand_over(&mut self, now: Time) {
        if now < self.handed_over_at + HAND_OVER_EVERY {
            return;
        }
        self.handed_over_at = now;
        for file in self.files.iter_mut().flatten().filter(|file| !file.is_chunk_empty()) {
            file.hand_over();
        }
    }

    /// Appends the last blocks, and waits for the disk.
    pub fn end(&mut self, captures: Vec<CaptureFile>) {
        for (file, last) in self.files.iter_mut().zip(captures) {
            let name = last.counts.name.clone();
            self.counts.push(last.counts);
            let Ok(open) = file else { continue };
            open.chunk().extend(last.bytes);
            if let Err(error) = open.close() {
                *file = Err(format!("the capture {name} is incomplete: {error}"));
            }
        }
    }

    /// Warnings about incomplete captures, with the counts of a run that has not ended.
    pub fn warnings(&self, running: &[CaptureCounts]) -> Vec<String> {
        let counts = if self.counts.is_empty() { running } else { &self.counts };
        let failures = self.files.iter().filter_map(|file| file.as_ref().err().cloned());
        counts.iter().flat_map(CaptureCounts::warnings).chain(failures).collect()
    }
}
