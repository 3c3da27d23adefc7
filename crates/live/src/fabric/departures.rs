use hitless_core::wire::Packet;

use super::counts::Refused;
use super::external::{Departure, External};
use super::frames::FrameInfo;
use super::live::LiveFabric;
use super::points::{Point, RealEnd};
use super::wire::{headers_of_mechanisms, write_to_host, write_to_switch};
use crate::interfaces::Together;

/// The bytes of departures.
#[derive(Debug)]
pub enum Leaving<'a> {
    Frame(&'a [u8]),
    /// Neighbouring frames of a merged buffer, one for each departure.
    Together(Together<'a>),
}

impl LiveFabric {
    /// Passes on departures since the last call, in order for each point. Frames that arrived in one buffer and leave
    /// unchanged, one after the other, through one point leave together.
    pub fn departures(&mut self, mut send: impl FnMut(&[Departure], Leaving<'_>)) {
        let external = self.run.edge_mut();
        let mut outbox = std::mem::take(&mut external.outbox);
        if outbox.iter().any(|departure| external.is_in_buffer(&departure.packet)) {
            // Frames of one buffer leave one after the other, unless others leave through another point.
            outbox.sort_by_key(|departure| departure.point);
        }
        let mut left = &outbox[..];
        while !left.is_empty() {
            let count = external.together(left);
            let (departures, rest) = left.split_at(count);
            if count > 1 {
                external.send_together(departures, &mut send);
            } else {
                external.send_single(departures, &mut self.scratch, &mut send);
            }
            let frames = departures.iter().map(|departure| departure.packet.frame).filter(|&frame| frame != 0);
            frames.for_each(|frame| external.frames.release(frame));
            left = rest;
        }
        outbox.clear();
        external.outbox = outbox;
    }
}

impl External {
    fn is_in_buffer(&self, packet: &Packet) -> bool {
        packet.frame != 0 && self.frames.part(packet.frame).is_some()
    }

    /// Returns whether a packet is a frame of a buffer as it arrived.
    fn is_unchanged(&self, packet: &Packet) -> bool {
        self.is_in_buffer(packet)
            && packet.ecn == self.frames.info(packet.frame).ecn
            && headers_of_mechanisms(packet).is_empty()
    }

    /// Returns the number of departures, from the first one, that leave together.
    fn together(&self, departures: &[Departure]) -> usize {
        let first = &departures[0];
        if self.points[usize::from(first.point)].is_switch() || !self.is_unchanged(&first.packet) {
            return 1;
        }
        let Some(part) = self.frames.part(first.packet.frame) else { return 1 };
        let alike = departures[1..]
            .iter()
            .take_while(|departure| departure.point == first.point && self.is_unchanged(&departure.packet));
        part.run(alike.filter_map(|departure| self.frames.part(departure.packet.frame)))
    }

    fn send_together(&self, departures: &[Departure], send: &mut impl FnMut(&[Departure], Leaving<'_>)) {
        let part = self.frames.part(departures[0].packet.frame).expect("it is in a buffer");
        let (buffer, segments) = self.frames.buffers.whole(part);
        let numbers = part.numbers(departures.len());
        send(departures, Leaving::Together(Together { buffer, segments, numbers }));
    }

    fn send_single(
        &mut self,
        departures: &[Departure],
        [marking, out, single]: &mut [Vec<u8>; 3],
        send: &mut impl FnMut(&[Departure], Leaving<'_>),
    ) {
        let packet = &departures[0].packet;
        let (body, before) = match packet.frame {
            0 => (None, FrameInfo { ecn: packet.ecn, ..FrameInfo::default() }),
            frame => (Some(self.frames.body(frame, single)), self.frames.info(frame)),
        };
        let is_foreign = body.is_some() && self.points[usize::from(before.point)].is_switch();
        let Point { end, spoken, .. } = &self.points[usize::from(departures[0].point)];
        let written = match (end, body) {
            (RealEnd::Switch(format), body) => {
                write_to_switch(packet, &before, body, (format, spoken, &self.known), [marking, out])
            }
            (RealEnd::Host(_), Some(body)) => write_to_host(packet, before.ecn, body, marking).map(Some),
            (RealEnd::Host(_), None) => Err("a packet of a mechanism left for a host".to_owned()),
        };
        match written {
            Ok(Some(bytes)) => send(departures, Leaving::Frame(bytes)),
            Ok(None) => self.counts.refuse_late(Refused::NotOfTheLink),
            // A foreign switch's header must not end this run.
            Err(_) if is_foreign => self.counts.refuse_late(Refused::NotOfTheLink),
            Err(reason) => self.violation = Some(self.violation.take().unwrap_or(reason)),
        }
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::frame::MacAddress;
    use hitless_core::wire::{Duration, Time};

    use super::*;
    use crate::fabric::{LiveCommand, LiveSettings};
    use crate::interfaces::{Merged, MonotonicTime, Segments};

    const PAYLOAD_BYTES: usize = 1_000;
    const HEADER_BYTES: usize = 54;
    const NEAR: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const FAR: [u8; 6] = [2, 0, 0, 0, 0, 2];

    /// A buffer of TCP for a station behind `far`, with `frames` frames.
    fn buffer(frames: usize) -> Vec<u8> {
        let mut bytes: Vec<u8> = FAR.into_iter().chain(NEAR).chain([0x08, 0]).collect();
        let length = (40 + frames * PAYLOAD_BYTES) as u16;
        bytes.extend([0x45, 0]);
        bytes.extend(length.to_be_bytes());
        bytes.extend([0, 1, 0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2]);
        bytes.extend([0, 80, 0, 81, 0, 0, 0, 0, 0, 0, 0, 0, 0x50, 0x18, 0, 9, 0, 0, 0, 0]);
        bytes.extend((0..frames * PAYLOAD_BYTES).map(|at| (at / PAYLOAD_BYTES) as u8));
        bytes
    }

    fn fabric(more: &str, points: &[&str]) -> LiveFabric {
        fabric_of("10 Gbps", more, points)
    }

    /// A chain of two switches with this rate between them.
    fn fabric_of(rate: &str, more: &str, points: &[&str]) -> LiveFabric {
        let text = format!(
            "name = \"two\"\n[topology]\nkind = \"chain\"\nhosts_left = [\"near\"]\nswitches = [\"sw1\", \"sw2\"]\n\
             hosts_right = [\"far\"]\nhost_link = {{ rate = \"10 Gbps\", delay = \"0 ns\" }}\n\
             switch_link = {{ rate = \"{rate}\", delay = \"100 ns\" }}\n{more}"
        );
        let purpose = hitless_scenario::Purpose::Live;
        let scenario = hitless_scenario::check_for(&text, "two.toml", purpose, hitless_mechanisms::builtin(), None)
            .unwrap_or_else(|error| panic!("{error}"));
        let points: Vec<String> = points.iter().map(|&name| name.to_owned()).collect();
        let stations = vec![(MacAddress(FAR), points[1].clone())];
        LiveFabric::new(scenario, &LiveSettings { stations, ..LiveSettings::new(points) }).expect("a fabric")
    }

    /// Sends a buffer of `frames`; returns whether it stays whole, and the numbers of the frames that leave together.
    fn send(fabric: &mut LiveFabric, frames: usize, us: u64) -> (bool, Vec<Vec<u8>>) {
        let (mut bytes, at) = (buffer(frames), MonotonicTime(0));
        let segments = Segments::find(&bytes, 34, PAYLOAD_BYTES).expect("a buffer of TCP");
        let begin = fabric.now() + Duration(1);
        let is_whole = fabric.receive_merged(0, begin, Merged { bytes: &mut bytes, start: 0, segments, at });
        let mut left = Vec::new();
        for turn in 1..=us {
            fabric.advance(begin + Duration::from_us(turn));
            fabric.departures(|departures, leaving| {
                let numbers: Vec<u8> = match leaving {
                    Leaving::Frame(bytes) => vec![bytes[HEADER_BYTES]],
                    Leaving::Together(Together { buffer, numbers, .. }) => {
                        numbers.map(|number| buffer[HEADER_BYTES + number * PAYLOAD_BYTES]).collect()
                    }
                };
                assert_eq!(numbers.len(), departures.len());
                assert!(departures.iter().all(|departure| departure.at > Time::ZERO && departure.point == 1));
                left.push(numbers);
            });
        }
        (is_whole, left)
    }

    fn conserved(fabric: LiveFabric) {
        assert_eq!(fabric.finish().violations, [""; 0]);
    }

    #[test]
    fn frames_of_a_buffer_are_packets_that_leave_together_as_their_link_sends_them() {
        let mut fabric = fabric("", &["near", "far"]);
        // A frame takes 0.86 us.
        let (is_whole, left) = send(&mut fabric, 20, 60);
        assert!(is_whole && left.iter().all(|numbers| numbers.len() < 3), "{left:?}");
        assert_eq!(left.concat(), (0..20).collect::<Vec<u8>>());
        assert_eq!((fabric.counts().entered, fabric.counts().left), (20, 20));
        let bytes: Vec<_> = fabric.view().links.iter().map(|link| (link.frames_arrived, link.arrived_bytes)).collect();
        assert!(bytes.contains(&(20, 20 * (HEADER_BYTES + PAYLOAD_BYTES + 4) as u64)), "{bytes:?}");
        conserved(fabric);
    }

    #[test]
    fn frames_that_leave_in_one_turn_leave_in_one_buffer() {
        let mut fabric = fabric("", &["near", "far"]);
        let (mut bytes, at) = (buffer(20), MonotonicTime(0));
        let segments = Segments::find(&bytes, 34, PAYLOAD_BYTES).expect("a buffer of TCP");
        assert!(fabric.receive_merged(0, Time(1), Merged { bytes: &mut bytes, start: 0, segments, at }));
        fabric.advance(Time(100_000_000));
        let mut counts = Vec::new();
        fabric.departures(|departures, _| counts.push(departures.len()));
        assert_eq!(counts, [20]);
        conserved(fabric);
    }

    #[test]
    fn a_queue_drops_single_frames_of_a_buffer() {
        let buffer = "[switch.buffer]\nkind = \"static\"\nper_port = \"10 KB\"\n";
        let mut fabric = fabric_of("1 Gbps", buffer, &["near", "far"]);
        let (is_whole, left) = send(&mut fabric, 40, 400);
        let left = left.concat();
        assert!(is_whole && left.len() > 9 && left.len() < 20, "{left:?}");
        assert!(left.is_sorted() && left[0] == 0);
        assert_eq!(fabric.counts().inside(), 0);
        conserved(fabric);
    }

    #[test]
    fn a_lost_frame_parts_a_buffer_in_two() {
        let mut fabric = fabric("", &["near", "far"]);
        let tell = |fabric: &mut LiveFabric, text: &str| {
            fabric.command(&text.parse::<LiveCommand>().expect("a command")).expect("it can be carried out");
        };
        tell(&mut fabric, "corrupt sw1->sw2 0.2");
        let (mut all, mut frames) = (0, 0);
        for _ in 0..20 {
            let (_, left) = send(&mut fabric, 30, 60);
            assert!(left.iter().all(|numbers| numbers.windows(2).all(|pair| pair[1] == pair[0] + 1)), "{left:?}");
            (all, frames) = (all + 30, frames + left.concat().len());
        }
        assert_eq!(fabric.counts().corrupted as usize, all - frames);
        assert!(frames < all, "some are lost");
        conserved(fabric);
    }

    #[test]
    fn buffers_are_split_for_links_between_switches_and_beyond_the_room() {
        let mut link = fabric("", &["near", "sw2"]);
        assert!(link.splits_because(0).is_some_and(|why| why.contains("links between switches")));
        let (is_whole, left) = send(&mut link, 3, 60);
        assert_eq!((is_whole, left.len()), (false, 3));
        conserved(link);
        let mut full = fabric("", &["near", "far"]);
        let segments = |bytes: &[u8]| Segments::find(bytes, 34, PAYLOAD_BYTES).expect("a buffer of TCP");
        let kept = (0..300)
            .filter(|_| {
                let (mut bytes, at) = (buffer(2), MonotonicTime(0));
                let segments = segments(&bytes);
                full.receive_merged(0, Time(1), Merged { bytes: &mut bytes, start: 0, segments, at })
            })
            .count();
        assert_eq!((kept, full.counts().offered), (256, 600));
        full.advance(Time(10_000_000_000));
        let mut frames = 0;
        full.departures(|departures, _| frames += departures.len());
        assert_eq!(frames, 600);
        conserved(full);
    }
}
