//! Captures of a live run, and the bytes of real frames in them.

use std::sync::Arc;

use hitless_core::wire::Packet;
use hitless_core::wire::capture::{FrameBytes, ROCE_PORT, header_bytes, protocol, real_frame};
use hitless_core::wire::frame::Frame;
use hitless_core::wire::link::{LinkFormat, LinkHeaderSet};
use hitless_scenario::CapturedProtocol;
use hitless_scenario::network::topology::DirectedLink;

use super::capture_files::{CaptureFiles, OpenCapture};
use super::external::External;
use super::frames::FrameInfo;
use super::live::LiveFabric;
use super::points::{Point, RealEnd};
use super::wire::{marked, shims_of, write_to_switch};

impl LiveFabric {
    /// Writes the captures to files that `open` opens, while the run goes on; at most `chunks` pieces of 64 KiB of each
    /// wait for the disk. Without it they are in the outcome.
    pub fn write_captures(&mut self, open: Arc<OpenCapture>, chunks: usize) {
        let names = self.run.capture_names();
        if !names.is_empty() {
            self.captures = Some(Box::new(CaptureFiles::new(names, open, chunks)));
        }
    }

    /// Passes captured packets on to their files, if it is time.
    #[inline]
    pub(super) fn stream_captures(&mut self) {
        if self.captures.as_ref().is_some_and(|captures| captures.is_due(self.now)) {
            self.collect_captures();
        }
    }

    fn collect_captures(&mut self) {
        let Some(captures) = &mut self.captures else { return };
        captures.begin(self.now);
        self.run.stream_captures(self.now, |capture, bytes| captures.put(capture, bytes));
        captures.hand_over(self.now);
    }

    /// Ends the captures, and waits for the disk.
    pub fn end_captures(&mut self) {
        self.collect_captures();
        if let Some(captures) = &mut self.captures {
            captures.end(self.run.end_captures(self.now));
        }
    }

    /// Warnings about incomplete captures.
    pub fn capture_warnings(&self) -> Vec<String> {
        self.captures.as_ref().map_or(Vec::new(), |captures| captures.warnings(&self.run.capture_counts()))
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
                let payload_bytes = body.map_or(0, |body| body.len().saturating_sub(header_bytes(body)));
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
