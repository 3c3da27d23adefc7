//! The priority tagger of a sending host, below the transport: it marks each data packet with its urgency (Practical
//! Packet Deflection, section 3; Vertigo, CoNEXT 2021, section 3.1).

use std::collections::{BTreeMap, VecDeque};

use hitless_core::wire::{Packet, PriorityMark, Time};

use super::payload::{Place, payload};
use crate::application::Application;
use crate::application::{PriorityTagging, Rank};

/// A message not known to have arrived, or the part of one between two pauses.
#[derive(Clone, Copy, Debug, hitless_core::state::Value)]
struct Flowlet {
    start_bytes: u64,
    end_bytes: u64,
    /// Packets of the flow before it, for transports that count packets.
    start_packets: u64,
    number: u16,
    /// Offset of its first packet, once sent. A segment that starts in the previous flowlet can carry its first bytes.
    first_offset: Option<u64>,
}

/// Marks the packets of one flow.
#[derive(Clone, Debug, hitless_core::state::Value)]
pub struct PriorityTagger {
    tagging: PriorityTagging,
    /// Payload of a full packet, for transports that count packets.
    packet_bytes: u64,
    /// Flowlets, oldest first; never empty after the first write.
    flowlets: VecDeque<Flowlet>,
    next: Flowlet,
    /// End of the data sent so far.
    sent_bytes: u64,
    last_sent_at: Option<Time>,
    /// Retransmission count of new packets: the number of retransmissions after a pause.
    inherited: u8,
    /// Retransmission counts by the offset of a packet's first byte; zero counts are omitted.
    repeats: BTreeMap<u64, u8>,
}

impl PriorityTagger {
    /// Creates a tagger for a flow of `application`; a transport that counts packets fills them with `packet_bytes`.
    pub fn new(tagging: PriorityTagging, application: Application, packet_bytes: Option<u64>) -> Self {
        let next = Flowlet { start_bytes: 0, end_bytes: 0, start_packets: 0, number: 0, first_offset: None };
        let endless = Flowlet { end_bytes: u64::MAX, ..next };
        let flowlets = match application {
            Application::Unlimited { .. } => VecDeque::from([endless]),
            Application::Messages { .. } | Application::Appended => VecDeque::new(),
        };
        Self {
            tagging,
            packet_bytes: packet_bytes.unwrap_or(1).max(1),
            flowlets,
            next,
            sent_bytes: 0,
            last_sent_at: None,
            inherited: 0,
            repeats: BTreeMap::new(),
        }
    }

    /// Records a message from the application; the first `acknowledged_bytes` of the flow have arrived.
    pub fn wrote(&mut self, bytes: u64, acknowledged_bytes: u64) {
        if self.flowlets.back().is_some_and(|last| last.end_bytes == u64::MAX) {
            return;
        }
        self.forget(acknowledged_bytes);
        let message = Flowlet { end_bytes: self.next.start_bytes + bytes, ..self.next };
        self.flowlets.push_back(message);
        self.next = Flowlet {
            start_bytes: message.end_bytes,
            end_bytes: message.end_bytes,
            start_packets: message.start_packets + bytes.div_ceil(self.packet_bytes),
            number: message.number.wrapping_add(1),
            first_offset: None,
        };
    }

    fn forget(&mut self, acknowledged_bytes: u64) {
        while self.flowlets.front().is_some_and(|flowlet| flowlet.end_bytes <= acknowledged_bytes) {
            self.flowlets.pop_front();
        }
    }

    /// Marks `packet`, sent now, if it carries data; the first `acknowledged_bytes` of the flow have arrived.
    pub fn mark(&mut self, now: Time, packet: &mut Packet, acknowledged_bytes: u64) {
        let Some((place, bytes)) = payload(&packet.transport) else { return };
        let begins_before = |flowlet: &Flowlet| match place {
            Place::Bytes(offset) => flowlet.start_bytes <= offset,
            Place::Packets(number) => flowlet.start_packets <= number,
        };
        let Some(mut index) = self.flowlets.iter().rposition(begins_before) else { return };
        let flowlet = &self.flowlets[index];
        let offset = match place {
            Place::Bytes(offset) => offset,
            Place::Packets(number) => flowlet.start_bytes + (number - flowlet.start_packets) * self.packet_bytes,
        };
        let paused = self.has_paused(now);
        self.last_sent_at = Some(now);
        if paused && self.splits(offset, flowlet.start_bytes) {
            self.split(index, offset, place);
            self.forget(acknowledged_bytes);
            index = self.flowlets.iter().rposition(begins_before).expect("one begins here");
        }
        let flowlet = &mut self.flowlets[index];
        // The first packet starts with the flowlet, or is its first new packet if a segment of the previous flowlet has
        // its first bytes.
        if offset == flowlet.start_bytes || offset == self.sent_bytes {
            flowlet.first_offset.get_or_insert(offset);
        }
        let flowlet = *flowlet;
        let is_first = flowlet.first_offset == Some(offset);
        let mark = PriorityMark {
            rank_bytes: self.rank(&flowlet, offset),
            flowlet: flowlet.number,
            is_first,
            retransmissions: self.count(offset, u64::from(bytes), acknowledged_bytes, is_first, paused),
        };
        packet.push_shim(mark).expect("a packet fresh from its transport has no shims");
    }

    fn has_paused(&self, now: Time) -> bool {
        self.last_sent_at.is_some_and(|last| now - last > self.tagging.flowlet_gap)
    }

    /// Returns whether a packet after a pause starts a flowlet. Remaining bytes do not depend on pauses.
    fn splits(&self, offset: u64, start_bytes: u64) -> bool {
        self.tagging.rank == Rank::AttainedService && offset >= self.sent_bytes && offset > start_bytes
    }

    fn split(&mut self, index: usize, offset: u64, place: Place) {
        let before = self.flowlets[index];
        let start_packets = match place {
            Place::Bytes(_) => before.start_packets,
            Place::Packets(number) => number,
        };
        self.flowlets[index].end_bytes = offset;
        self.flowlets.insert(index + 1, Flowlet { start_bytes: offset, start_packets, first_offset: None, ..before });
        let later = self.flowlets.range_mut(index + 1..).chain([&mut self.next]);
        later.for_each(|flowlet| flowlet.number = flowlet.number.wrapping_add(1));
    }

    fn rank(&self, flowlet: &Flowlet, offset: u64) -> u32 {
        let bytes = match self.tagging.rank {
            Rank::Fixed(rank) => return rank,
            Rank::RemainingBytes => flowlet.end_bytes.saturating_sub(offset),
            Rank::AttainedService => offset - flowlet.start_bytes,
        };
        u32::try_from(bytes / u64::from(self.tagging.divisor.get())).unwrap_or(u32::MAX)
    }

    /// Returns the retransmission count of the packet at `offset`: how often it was sent before, plus the inherited
    /// count.
    fn count(&mut self, offset: u64, bytes: u64, acknowledged_bytes: u64, is_first: bool, paused: bool) -> u8 {
        let is_new = offset >= self.sent_bytes;
        if is_new {
            self.sent_bytes = offset + bytes;
            self.inherited = if is_first { 0 } else { self.inherited };
            if self.inherited == 0 {
                return 0;
            }
        }
        // Counts of acknowledged data are no longer needed.
        self.repeats = self.repeats.split_off(&acknowledged_bytes);
        let count = self.repeats.entry(offset).or_insert(0);
        if is_new {
            *count = self.inherited;
            return *count;
        }
        let one_more = |count: u8| (count + 1).min(PriorityMark::MOST_RETRANSMISSIONS);
        *count = one_more(*count);
        if paused {
            self.inherited = one_more(self.inherited);
        }
        *count
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU32;

    use super::*;
    use hitless_core::wire::{Duration, TcpHeader, Transport, UdpHeader};

    const MSS: u64 = 1_000;

    fn segment(sequence: u64, payload_bytes: u16) -> Packet {
        let header = TcpHeader { sequence, payload_bytes, ..TcpHeader::default() };
        Packet { frame_bytes: 70 + u32::from(payload_bytes), transport: Transport::Tcp(header), ..Packet::default() }
    }

    fn datagram(number: u64, payload_bytes: u32) -> Packet {
        let header = UdpHeader { number, payload_bytes, ..UdpHeader::default() };
        Packet { transport: Transport::Udp(header), ..Packet::default() }
    }

    fn mark_of(tagger: &mut PriorityTagger, mut packet: Packet, acknowledged: u64) -> Option<PriorityMark> {
        tagger.mark(Time::ZERO, &mut packet, acknowledged);
        packet.shims.get::<PriorityMark>()
    }

    fn tagger(tagging: PriorityTagging) -> PriorityTagger {
        let mut tagger = PriorityTagger::new(tagging, Application::Appended, None);
        tagger.wrote(2_500, 0);
        tagger
    }

    #[test]
    fn ranks_count_down_what_remains_or_up_what_was_sent() {
        let liar =
            PriorityTagging { divisor: NonZeroU32::new(100).unwrap(), ..PriorityTagging::honest(Rank::RemainingBytes) };
        let table = [
            (PriorityTagging::honest(Rank::RemainingBytes), [2_500, 1_500, 500]),
            (PriorityTagging::honest(Rank::AttainedService), [0, 1_000, 2_000]),
            (PriorityTagging::honest(Rank::Fixed(45)), [45, 45, 45]),
            (liar, [25, 15, 5]),
        ];
        for (tagging, ranks) in table {
            let mut tagger = tagger(tagging);
            for (number, rank) in (0..3).zip(ranks) {
                let mark = mark_of(&mut tagger, segment(number * MSS, 500), 0).unwrap();
                let expected = PriorityMark { rank_bytes: rank, is_first: number == 0, ..PriorityMark::default() };
                assert_eq!(mark, expected, "{tagging:?}, packet {number}");
            }
        }
    }

    #[test]
    fn a_mark_makes_the_frame_longer_and_only_data_has_one() {
        let mut tagger = tagger(PriorityTagging::honest(Rank::RemainingBytes));
        let mut data = segment(0, 1_000);
        tagger.mark(Time::ZERO, &mut data, 0);
        assert_eq!(data.frame_bytes, 1_078);
        for transport in [segment(0, 0).transport, Transport::None] {
            let mut other = Packet { transport, ..Packet::default() };
            tagger.mark(Time::ZERO, &mut other, 0);
            assert!(!other.shims.contains::<PriorityMark>());
        }
    }

    #[test]
    fn each_message_is_a_flowlet_that_counts_by_itself() {
        let mut tagger = tagger(PriorityTagging::honest(Rank::RemainingBytes));
        tagger.wrote(700, 0);
        let ranks = |tagger: &mut PriorityTagger, offset| {
            let mark = mark_of(tagger, segment(offset, 500), 0).unwrap();
            (mark.flowlet, mark.rank_bytes, mark.is_first)
        };
        assert_eq!(ranks(&mut tagger, 2_000), (0, 500, false));
        assert_eq!(ranks(&mut tagger, 2_500), (1, 700, true));
        assert_eq!(ranks(&mut tagger, 3_000), (1, 200, false));
        // The first flowlet is forgotten, but the second one is still counted correctly.
        tagger.wrote(100, 2_500);
        assert_eq!(tagger.flowlets.len(), 2);
        assert_eq!(ranks(&mut tagger, 3_200), (2, 100, true));
    }

    /// Otherwise the reorder buffer would wait for a first packet that never comes.
    #[test]
    fn the_first_packet_of_a_message_is_the_first_that_begins_in_it() {
        let mut tagger =
            PriorityTagger::new(PriorityTagging::honest(Rank::RemainingBytes), Application::Appended, None);
        tagger.wrote(2_000, 0);
        tagger.wrote(3_000, 0);
        let mut first =
            |offset| mark_of(&mut tagger, segment(offset, 1_448), 0).map(|mark| (mark.flowlet, mark.is_first));
        let marks = [0, 1_448, 2_896, 4_344, 2_896, 1_448].map(|offset| first(offset).unwrap());
        assert_eq!(marks, [(0, true), (0, false), (1, true), (1, false), (1, true), (0, false)]);
    }

    #[test]
    fn what_is_sent_again_is_counted_by_segment() {
        let mut tagger = tagger(PriorityTagging::honest(Rank::RemainingBytes));
        let mut count =
            |offset, acknowledged| mark_of(&mut tagger, segment(offset, 1_000), acknowledged).unwrap().retransmissions;
        let sent = [(0, 0), (1_000, 0), (0, 0), (0, 0), (1_000, 0), (2_000, 1_000), (1_000, 1_000), (2_000, 1_000)];
        assert_eq!(sent.map(|(offset, acknowledged)| count(offset, acknowledged)), [0, 0, 1, 2, 1, 0, 2, 1]);
        assert!(tagger.repeats.keys().all(|&offset| offset >= 1_000), "what has arrived is forgotten");
    }

    #[test]
    fn numbered_packets_are_full_but_the_last_of_each_message() {
        let mut tagger =
            PriorityTagger::new(PriorityTagging::honest(Rank::RemainingBytes), Application::Appended, Some(MSS));
        tagger.wrote(2_500, 0);
        tagger.wrote(1_200, 0);
        let packets = [1_000, 1_000, 500, 1_000, 200];
        let marks = (0..).zip(packets).map(|(number, bytes)| mark_of(&mut tagger, datagram(number, bytes), 0).unwrap());
        let marks: Vec<_> = marks.map(|mark| (mark.flowlet, mark.rank_bytes)).collect();
        assert_eq!(marks, [(0, 2_500), (0, 1_500), (0, 500), (1, 1_200), (1, 200)]);
    }

    #[test]
    fn more_remains_of_a_flow_without_an_end_than_can_be_said() {
        let until = Application::until(Time(1));
        let mut tagger = PriorityTagger::new(PriorityTagging::honest(Rank::RemainingBytes), until, None);
        tagger.wrote(4_000, 0);
        tagger.wrote(4_000, 4_000);
        let mark = mark_of(&mut tagger, segment(6_000, 1_000), 0).unwrap();
        assert_eq!((mark.rank_bytes, mark.flowlet, mark.is_first), (u32::MAX, 0, false));
        let mut attained = PriorityTagger::new(PriorityTagging::honest(Rank::AttainedService), until, None);
        attained.wrote(4_000, 0);
        assert_eq!(mark_of(&mut attained, segment(6_000, 1_000), 0).unwrap().rank_bytes, 6_000);
    }

    const GAP: Duration = Duration::from_us(360);

    fn marks(tagger: &mut PriorityTagger, sent: &[(u64, u64)]) -> Vec<(u16, u32, bool, u8)> {
        let mark = |&(at_us, offset): &(u64, u64)| {
            let mut packet = segment(offset, 1_000);
            tagger.mark(Time::ZERO + Duration::from_us(at_us), &mut packet, 0);
            let mark = packet.shims.get::<PriorityMark>().unwrap();
            (mark.flowlet, mark.rank_bytes, mark.is_first, mark.retransmissions)
        };
        sent.iter().map(mark).collect()
    }

    fn with_gap(rank: Rank) -> PriorityTagger {
        let tagging = PriorityTagging { flowlet_gap: GAP, ..PriorityTagging::honest(rank) };
        let mut tagger = PriorityTagger::new(tagging, Application::Appended, None);
        tagger.wrote(6_000, 0);
        tagger
    }

    #[test]
    fn after_a_pause_attained_service_counts_from_the_next_new_packet() {
        let mut tagger = with_gap(Rank::AttainedService);
        tagger.wrote(1_000, 0);
        let sent = [(0, 0), (360, 1_000), (721, 2_000), (722, 3_000), (723, 1_000), (724, 6_000)];
        let expected = [
            (0, 0, true, 0),
            (0, 1_000, false, 0),
            (1, 0, true, 0),
            (1, 1_000, false, 0),
            (0, 1_000, false, 1),
            (2, 0, true, 0),
        ];
        assert_eq!(marks(&mut tagger, &sent), expected);
    }

    #[test]
    fn what_is_sent_again_after_a_pause_boosts_what_is_new_in_its_flowlet() {
        let sent = [(0, 0), (1, 1_000), (1_000, 0), (1_001, 2_000), (2_000, 2_000), (2_001, 3_000), (2_002, 0)];
        let expected = [0, 0, 1, 1, 2, 2, 2];
        for rank in [Rank::AttainedService, Rank::RemainingBytes] {
            let counts: Vec<u8> = marks(&mut with_gap(rank), &sent).iter().map(|mark| mark.3).collect();
            assert_eq!(counts, expected, "{rank:?}");
        }
        let mut attained = with_gap(Rank::AttainedService);
        marks(&mut attained, &sent);
        assert_eq!(marks(&mut attained, &[(3_000, 4_000)]), [(1, 0, true, 0)], "a new flowlet has no boost");
        let mut remaining = with_gap(Rank::RemainingBytes);
        marks(&mut remaining, &sent);
        assert_eq!(marks(&mut remaining, &[(3_000, 4_000)]), [(0, 2_000, false, 2)], "what remains is what remains");
        remaining.wrote(1_000, 5_000);
        assert_eq!(marks(&mut remaining, &[(3_001, 6_000)]), [(1, 1_000, true, 0)], "nor has a new message");
    }

    #[test]
    fn flowlets_that_have_arrived_are_forgotten() {
        let tagging = PriorityTagging { flowlet_gap: GAP, ..PriorityTagging::honest(Rank::AttainedService) };
        let mut tagger = PriorityTagger::new(tagging, Application::until(Time(1)), Some(MSS));
        for number in 0..70_000_u64 {
            let mut packet = datagram(number, 1_000);
            tagger.mark(Time::ZERO + Duration::from_us(361 * number), &mut packet, number * MSS);
            let mark = packet.shims.get::<PriorityMark>().unwrap();
            assert_eq!((mark.rank_bytes, mark.is_first, mark.flowlet), (0, true, number as u16));
        }
        assert!(tagger.flowlets.len() <= 2, "{} flowlets are kept", tagger.flowlets.len());
    }
}
