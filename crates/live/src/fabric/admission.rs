//! Admission of received frames to the fabric.

use hitless_core::wire::frame::frame_bytes;
use hitless_core::wire::{Duration, Packet, Time};
use hitless_simulation::run::Landing;

use super::counts::Refused;
use super::external::{EVERYONE, External};
use super::frames::FrameInfo;
use super::points::{Point, RealEnd};
use super::wire::{control_packet, read, read_link, with_mark, with_shims};

impl Point {
    /// Returns the landing time of a frame from a switch elsewhere: its arrival, or right after the previous one.
    fn lands_at(&mut self, at: Time) -> Landing {
        self.last_landing = at.max(self.last_landing + Duration(1));
        Landing::At(self.last_landing)
    }
}

impl External {
    /// Reads a frame and finds its destination; returns the packet to be put on the link, and its landing time.
    pub(super) fn admit(
        &mut self,
        at: Time,
        point: u16,
        frame: u32,
        number: u64,
    ) -> Result<(Packet, Landing), Refused> {
        let RealEnd::Switch(format) = &self.points[usize::from(point)].end else {
            let packet = self.admit_frame(at, point, frame, number, true)?;
            let RealEnd::Host(card) = &mut self.points[usize::from(point)].end else { unreachable!("it was none") };
            let departs_at = card.enqueue(at, packet.frame_bytes).ok_or(Refused::CardFull)?;
            return Ok((packet, Landing::AfterLastBit(departs_at)));
        };
        let spoken = &self.points[usize::from(point)].spoken;
        let read = read_link(self.frames.bytes(frame), format, spoken).map_err(|refusal| {
            self.link_refusals.count(refusal);
            Refused::NotOfTheLink
        })?;
        let Some(inner) = read.inner else {
            let source = self.points[usize::from(point)].host;
            let packet = Packet { source, destination: EVERYONE, ..control_packet(read.shims, spoken) };
            return Ok((packet, self.points[usize::from(point)].lands_at(at)));
        };
        self.frames.keep(frame, inner);
        let is_on_path = !spoken.is_off_path(&read.shims);
        let packet = self.admit_frame(at, point, frame, number, is_on_path)?;
        let point = &mut self.points[usize::from(point)];
        Ok((with_shims(packet, read.shims, &point.spoken), point.lands_at(at)))
    }

    pub(super) fn admit_frame(
        &mut self,
        at: Time,
        point: u16,
        frame: u32,
        number: u64,
        shows_its_source: bool,
    ) -> Result<Packet, Refused> {
        let (bytes, length) = self.frames.headers(frame);
        let mut read = read(bytes, self.hash_seed).ok_or(Refused::Malformed)?;
        read.packet.frame_bytes = frame_bytes(length);
        if shows_its_source {
            self.bridge.learn(at, read.source, point);
        }
        let destination = self.bridge.find(at, read.destination);
        let is_host = !self.points[usize::from(point)].is_switch();
        // A frame from a switch elsewhere has a number on its link, so its receiver must see it even if it ends here.
        if destination == Some(point) && is_host {
            return Err(Refused::SameSide);
        }
        let mark = read.mark.filter(|_| self.ranks_by_dscp);
        let info = FrameInfo { number, point, service: read.service, ecn: read.packet.ecn, mark };
        self.frames.set_info(frame, info);
        let host = |point: u16| self.points[usize::from(point)].host;
        let destination = destination.map_or(EVERYONE, host);
        let packet = Packet { source: host(point), destination, frame, ..read.packet };
        Ok(mark.map_or(packet, |mark| with_mark(packet, mark)))
    }
}
