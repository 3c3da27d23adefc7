//! Captures of a live run: the bytes of real frames, and files that grow during the run.

use std::io::{self, Write};
use std::sync::Arc;

use hitless_core::wire::capture::{FrameBytes, ROCE_PORT, header_bytes, protocol, real_frame};
use hitless_core::wire::frame::Frame;
use hitless_core::wire::link::{LinkFormat, LinkHeaderSet};
use hitless_core::wire::{Duration, Packet, Time};
use hitless_scenario::CapturedProtocol;
use hitless_scenario::network::topology::DirectedLink;
use hitless_simulation::results::CaptureCounts;

use super::external::External;
use super::frames::FrameInfo;
use super::live::LiveFabric;
use super::points::{Point, RealEnd};
use super::wire::{marked, shims_of, write_to_switch};
use crate::background::BackgroundFile;

/// Maximum number of pieces of 64 KiB of a file that wait for the disk, as in a recording.
pub const CAPTURE_CHUNKS: usize = 1_024;
/// Maximum age of bytes that were not passed to the disk, so that a file can be read during the run.
const HAND_OVER_EVERY: Duration = Duration::from_ms(500);

/// Opens the file of the capture with this name.
pub type OpenCapture = dyn Fn(&str) -> io::Result<Box<dyn Write>> + Send + Sync;

/// The files of a run.
pub(super) struct CaptureFiles {
    open: Arc<OpenCapture>,
    /// Maximum number of pieces of a file that wait for the disk.
    chunks: usize,
    /// By number of the capture; opened at its first packet or at the end.
    files: Vec<Result<BackgroundFile, String>>,
    handed_over_at: Time,
    /// Set at the end of the captures.
    counts: Vec<CaptureCounts>,
}

impl CaptureFiles {
    fn new(open: Arc<OpenCapture>, chunks: usize) -> Self {
        Self { open, chunks, files: Vec::new(), handed_over_at: Time::ZERO, counts: Vec::new() }
    }

    /// Starts the threads of the files. It is late, so that they have the privileges of the thread that runs.
    fn begin(&mut self, names: Vec<String>) {
        let begin = |name: String| {
            let (open, told) = (Arc::clone(&self.open), name.clone());
            let file = BackgroundFile::new("capture", self.chunks, move || open(&name));
            file.map_err(|error| format!("the capture {told} cannot be written: {error}"))
        };
        self.files = names.into_iter().map(begin).collect();
    }

    fn put(files: &mut [Result<BackgroundFile, String>], capture: usize, bytes: &[u8]) -> bool {
        files[capture].as_mut().is_ok_and(|file| file.put(bytes))
    }

    fn hand_over(&mut self, now: Time) {
        if now < self.handed_over_at + HAND_OVER_EVERY {
            return;
        }
        self.handed_over_at = now;
        self.files.iter_mut().flatten().filter(|file| !file.is_chunk_empty()).for_each(|file| {
            file.hand_over();
        });
    }
}

impl LiveFabric {
    /// Writes the captures to files that `open` opens, while the run goes on; at most `chunks` pieces of 64 KiB of each
    /// wait for the disk. Without it they are in the outcome.
    pub fn write_captures(&mut self, open: Arc<OpenCapture>, chunks: usize) {
        if !self.run.capture_names().is_empty() {
            self.captures = Some(Box::new(CaptureFiles::new(open, chunks)));
        }
    }

    /// Passes captured packets on to their files.
    pub(super) fn stream_captures(&mut self) {
        let Some(captures) = &mut self.captures else { return };
        if captures.files.is_empty() {
            captures.begin(self.run.capture_names());
        }
        let files = &mut captures.files;
        self.run.stream_captures(self.now, |capture, bytes| CaptureFiles::put(files, capture, bytes));
        captures.hand_over(self.now);
    }

    /// Ends the captures, and waits for the disk.
    pub fn end_captures(&mut self) {
        self.stream_captures();
        let Some(captures) = &mut self.captures else { return };
        for (capture, last) in self.run.end_captures(self.now).into_iter().enumerate() {
            captures.counts.push(last.counts);
            let Ok(file) = &mut captures.files[capture] else { continue };
            file.chunk().extend(last.bytes);
            if let Err(error) = file.close() {
                let name = &captures.counts[capture].name;
                captures.files[capture] = Err(format!("the capture {name} is incomplete: {error}"));
            }
        }
    }

    /// Warnings about incomplete captures.
    pub fn capture_warnings(&self) -> Vec<String> {
        let Some(captures) = &self.captures else { return Vec::new() };
        let running = self.run.capture_counts();
        let counts = if captures.counts.is_empty() { &running } else { &captures.counts };
        let failures = captures.files.iter().filter_map(|file| file.as_ref().err().cloned());
        counts.iter().flat_map(CaptureCounts::warnings).chain(failures).collect()
    }
}

impl External {
    /// The protocol of a frame, as filters of captures name it.
    pub(super) fn protocol_of(&self, frame: u32) -> Option<CapturedProtocol> {
        let ip = Frame::parse(self.frames.headers(frame).0).ok()?.ip?;
        let is_roce = ip.ports.is_some_and(|ports| ports.destination == ROCE_PORT);
        match ip.protocol {
            protocol::TCP => Some(CapturedProtocol::Tcp),
            protocol::UDP if is_roce => Some(CapturedProtocol::Roce),
            protocol::UDP => Some(CapturedProtocol::Udp),
            _ => None,
        }
    }

    /// Returns the bytes of a packet with a frame, or of any packet on a link to a switch elsewhere.
    pub(super) fn captured(
        &self,
        link: Option<u32>,
        packet: &Packet,
        spoken: &LinkHeaderSet,
        is_whole: bool,
    ) -> Option<FrameBytes> {
        let (mut single, mut marking, mut out) = Default::default();
        let (body, before) = match packet.frame {
            0 => (None, FrameInfo { ecn: packet.ecn, ..FrameInfo::default() }),
            frame => (Some(self.frames.body(frame, &mut single)), self.frames.info(frame)),
        };
        if let Some((format, spoken)) = link.and_then(|link| self.real_link(link)) {
            let link = (&format, spoken, &self.known);
            if let Ok(Some(bytes)) = write_to_switch(packet, &before, body, link, [&mut marking, &mut out]) {
                let payload_bytes = body.map_or(0, |body| body.len() - header_bytes(body));
                // A truncated payload, and a short frame, stay whole.
                let is_shorter = body.is_some_and(|body| bytes.len() < body.len());
                return Some(FrameBytes::of(bytes, bytes.len().saturating_sub(payload_bytes), is_whole || is_shorter));
            }
        }
        let body = marked(packet, before.ecn, body?, &mut marking);
        Some(real_frame(body, &shims_of(packet, &before), spoken, is_whole))
    }

    /// Returns format and headers of a link to or from a switch elsewhere.
    fn real_link(&self, link: u32) -> Option<(LinkFormat, &LinkHeaderSet)> {
        let is_it = |link_of_point: DirectedLink| link_of_point.index() == link as usize;
        let is_at = |point: &&Point| is_it(point.outwards) || is_it(point.inwards());
        let point = self.points.iter().find(is_at)?;
        let RealEnd::Switch(format) = &point.end else { return None };
        let LinkFormat { local, remote, .. } = *format;
        // The other end's address is only known if frames are sent to it alone.
        let comes_back = is_it(point.inwards()) && !remote.is_group();
        let format = if comes_back { LinkFormat { local: remote, remote: local, ..*format } } else { *format };
        Some((format, &point.spoken))
    }
}
