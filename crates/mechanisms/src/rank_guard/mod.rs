//! A guard at the edge against hosts that lie about their priority (Practical Packet Deflection, section 6, names them
//! as future work: "an adversary can starve other flows by sending high-priority packets").
//!
//! Senders mark packets with the remaining bytes of their flow, and switches believe them. The first switch can count
//! the bytes of a flow. It keeps two numbers per flow: the bytes sent of the message, a, and the bytes promised, p,
//! which is the claim of the first packet. An honest message has p - a left, or more if it repeats packets, and ends
//! when a reaches p. Therefore:
//!
//! - *The rest of a promise is a lower bound of the rank.* While a is at most p, a packet gets a rank of at least p -
//!   a.
//! - *A flow that sends more than promised is ranked by its sent bytes.* If a exceeds p by more than headers and
//!   repeated packets explain, its packets get a rank of at least a, as under least attained service, until the flow
//!   has been silent for a time. A claim of a hundredth of the truth is believed for a hundredth of the bytes.
//! - *Urgency of repeated packets is believed for a small allowance of bytes* only.
//! - *A packet without a mark counts as a claim of 0.* Short frames, above all acknowledgements, pass.
//!
//! The first rule never raises an honest flow, and the second only one that repeats more than the tolerance. A liar
//! gains at most its promise, and beyond that no more than under least attained service. The network cannot detect a
//! long message that pretends to be many short ones; it gains the same as under least attained service, too.
//!
//! Flows share slots of a table by their hash. A flow with a hash collision passes unguarded, and is counted.

mod kind;
mod settings;

use hitless_core::wire::{Packet, PortId, PriorityMark, Time};
use hitless_switch::{
    Context, Half, HookSet, Mechanism, Needs, RegisterArray, Report, Resources, Verdict, register_cell,
};

pub use settings::RankGuardSettings;

#[derive(Clone, Copy, Debug, Default, hitless_core::state::Value)]
struct Slot {
    /// The flow's hash; `None` while the slot is unused.
    flow: Option<u32>,
    last_at: Time,
    flowlet: u16,
    sent_bytes: u64,
    promised_bytes: u64,
    boosted_bytes: u64,
    is_found_out: bool,
}

register_cell!(Slot {
    flow: Option<u32>,
    last_at: Time,
    flowlet: u16,
    sent_bytes: u64,
    promised_bytes: u64,
    boosted_bytes: u64,
    is_found_out: bool,
});

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ruling {
    Unguarded,
    /// The minimum rank of the packet, and whether its claim to be repeated is believed.
    AtLeast {
        rank_bytes: u32,
        is_boost_believed: bool,
        is_newly_found_out: bool,
    },
}

hitless_switch::counters! {
    struct Counters {
        seen as packets_seen = "packets seen",
        exempt as short_frames_exempt = "short frames let through",
        unguarded as packets_unguarded = "packets whose slot another flow had",
        raised as packets_raised = "packets with a rank raised",
        boosts_refused = "packets whose urgency as repeated was not believed",
        marked_here as packets_marked = "packets marked here",
        unmarkable as packets_unmarkable = "packets without room for a mark",
        found_out as flows_found_out = "flows found to send more than they promised",
    }
}

#[derive(Debug, hitless_core::state::State)]
pub struct RankGuard {
    ports: Vec<PortId>,
    #[configured]
    settings: RankGuardSettings,
    #[part]
    table: RegisterArray<Slot>,
    counters: Counters,
}

impl RankGuard {
    pub fn new(ports: Vec<PortId>, settings: &RankGuardSettings) -> Self {
        let slots = settings.slots as usize;
        assert!(slots > 0, "the guard has a slot for a flow");
        assert!(settings.tolerance >= 0.0, "a tolerance of {} explains less than was promised", settings.tolerance);
        let table = RegisterArray::new("rank guard: flows", Half::Ingress, 0, slots, Slot::default());
        Self { ports, settings: settings.clone(), table, counters: Counters::default() }
    }

    fn rule(&mut self, mark: PriorityMark, context: &mut Context<'_>) -> Ruling {
        let now = context.now();
        let (flow, frame_bytes) = (context.packet().flow_hash, context.packet().frame_bytes);
        let settings = &self.settings;
        let index = (flow % settings.slots) as usize;
        self.table.access(context.pass(), index, |slot| slot.rule(settings, now, flow, frame_bytes, mark))
    }

    fn raise(&mut self, packet: &mut Packet, mark: PriorityMark, rank_bytes: u32) {
        self.counters.raised += 1;
        let mark = PriorityMark { rank_bytes, retransmissions: 0, ..mark };
        if packet.shims.replace(mark) {
            return;
        }
        let is_marked = packet.push_shim(mark).is_ok();
        *if is_marked { &mut self.counters.marked_here } else { &mut self.counters.unmarkable } += 1;
    }
}

impl Slot {
    fn rule(
        &mut self,
        settings: &RankGuardSettings,
        now: Time,
        flow: u32,
        frame_bytes: u32,
        mark: PriorityMark,
    ) -> Ruling {
        assert!(now >= self.last_at, "packets enter a switch in the order of time");
        let is_free = self.flow.is_none() || now - self.last_at > settings.idle;
        if is_free {
            *self = Self { flow: Some(flow), flowlet: mark.flowlet, ..Self::default() };
            self.promised_bytes = mark.rank_bytes.into();
        } else if self.flow != Some(flow) {
            return Ruling::Unguarded;
        }
        // Numbers of messages wrap, so that their order is the sign of the difference.
        let ahead = mark.flowlet.wrapping_sub(self.flowlet) as i16;
        if ahead > 0 {
            self.begin_message(mark);
        }
        self.last_at = now;
        // Repeated packets of an earlier message do not count against this message's promise.
        let left_bytes = if ahead < 0 { 0 } else { self.promised_bytes.saturating_sub(self.sent_bytes) };
        let was_found_out = self.is_found_out;
        // Frames have headers that the promise does not count, and lost packets are sent again.
        let explained_bytes = self.promised_bytes as f64 * (1.0 + settings.tolerance) + settings.allowance.0 as f64;
        self.is_found_out |= self.sent_bytes as f64 > explained_bytes;
        let floor_bytes = if self.is_found_out { self.sent_bytes } else { left_bytes };
        let is_boost_believed = mark.retransmissions == 0 || self.believes_boost(settings, frame_bytes);
        self.sent_bytes += u64::from(frame_bytes);
        let rank_bytes = floor_bytes.try_into().unwrap_or(u32::MAX);
        Ruling::AtLeast { rank_bytes, is_boost_believed, is_newly_found_out: self.is_found_out && !was_found_out }
    }

    /// Begins the next message of a flow. The rest of the last promise remains, and a flow that was found out stays so.
    fn begin_message(&mut self, mark: PriorityMark) {
        self.flowlet = mark.flowlet;
        if !self.is_found_out {
            let left_bytes = self.promised_bytes.saturating_sub(self.sent_bytes);
            self.promised_bytes = left_bytes + u64::from(mark.rank_bytes);
            self.sent_bytes = 0;
        }
    }

    fn believes_boost(&mut self, settings: &RankGuardSettings, frame_bytes: u32) -> bool {
        self.boosted_bytes += u64::from(frame_bytes);
        self.boosted_bytes <= settings.allowance.0 && !self.is_found_out
    }
}

impl Mechanism for RankGuard {
    hitless_switch::is_its_own_state!();

    fn needs(&mut self, _: &[usize]) -> Needs {
        let hooks = self.ports.iter().map(|&port| (port, HookSet::INGRESS_FROM)).collect();
        Needs { hooks, ..Needs::default() }
    }

    fn ingress(&mut self, context: &mut Context<'_>) -> Verdict {
        self.counters.seen += 1;
        if u64::from(context.packet().frame_bytes) <= self.settings.exempt.0 {
            self.counters.exempt += 1;
            return Verdict::Continue;
        }
        let mark = context.packet().shims.get::<PriorityMark>().unwrap_or_default();
        match self.rule(mark, context) {
            Ruling::Unguarded => self.counters.unguarded += 1,
            Ruling::AtLeast { rank_bytes, is_boost_believed, is_newly_found_out } => {
                self.counters.found_out += u64::from(is_newly_found_out);
                self.counters.boosts_refused += u64::from(!is_boost_believed);
                // A packet that is believed to be repeated may be more urgent than the rest of its flow.
                let believed = if is_boost_believed { mark } else { PriorityMark { retransmissions: 0, ..mark } };
                let floor = rank_bytes >> believed.retransmissions;
                if believed.urgency() < floor {
                    self.raise(context.packet(), mark, floor);
                } else if believed != mark {
                    context.packet().shims.replace(believed);
                }
            }
        }
        Verdict::Continue
    }

    fn resources(&self) -> Resources {
        Resources { registers: vec![self.table.stated()], ..Resources::new("rank-guard") }
            .not_counting(
                "arithmetic on a slot that depends on all of its fields: more than a stateful ALU does in one access",
            )
            .not_counting("the hash of a flow")
    }

    fn report(&self, _now: Time) -> Report {
        let mut report = Report::new("rank-guard");
        self.counters.report("switch", &mut report);
        report.acted = self.counters.seen > 0;
        report
    }
}

#[cfg(test)]
mod tests {
    use hitless_core::wire::{Bytes, Duration};

    use super::*;

    fn settings() -> RankGuardSettings {
        let (tolerance, allowance, idle) = (0.0, Bytes(1_000), Duration::from_us(10));
        RankGuardSettings { tolerance, allowance, idle, ..RankGuardSettings::default() }
    }

    fn mark(rank_bytes: u32, retransmissions: u8) -> PriorityMark {
        PriorityMark { rank_bytes, retransmissions, ..PriorityMark::default() }
    }

    #[test]
    fn a_slot_falls_free_when_its_flow_has_been_silent_for_more_than_the_time() {
        let idle = settings().idle;
        for (silence, is_free) in [(idle, false), (idle + Duration::from_ps(1), true)] {
            let mut slot = Slot::default();
            slot.rule(&settings(), Time::ZERO, 1, 1_000, mark(5_000, 0));
            let ruling = slot.rule(&settings(), Time::ZERO + silence, 2, 1_000, mark(7_000, 0));
            assert_eq!(ruling != Ruling::Unguarded, is_free, "after {silence}");
        }
    }

    /// 2,000 bytes are promised, and 1,000 more explained.
    #[test]
    fn a_flow_is_found_out_once_it_has_sent_more_than_is_explained() {
        let mut slot = Slot::default();
        let ranks = [2_000, 1_000, 0, 0, 4_000, 5_000].map(|expected| {
            let ruling = slot.rule(&settings(), Time::ZERO, 1, 1_000, mark(2_000, 0));
            let Ruling::AtLeast { rank_bytes, is_newly_found_out, .. } = ruling else { panic!("the slot is its own") };
            assert_eq!(is_newly_found_out, expected == 4_000, "{expected}");
            rank_bytes
        });
        assert_eq!(ranks, [2_000, 1_000, 0, 0, 4_000, 5_000]);
    }

    #[test]
    fn urgency_of_repeated_packets_is_believed_up_to_the_allowance_and_never_of_who_was_found_out() {
        let believed = |slot: &mut Slot, rank_bytes| {
            let ruling = slot.rule(&settings(), Time::ZERO, 1, 500, mark(rank_bytes, 1));
            matches!(ruling, Ruling::AtLeast { is_boost_believed: true, .. })
        };
        let mut slot = Slot::default();
        assert_eq!([9_000; 3].map(|rank_bytes| believed(&mut slot, rank_bytes)), [true, true, false]);
        let mut slot = Slot::default();
        slot.rule(&settings(), Time::ZERO, 1, 1_001, mark(0, 0));
        assert!(!believed(&mut slot, 0), "1,001 bytes of none that were promised");
    }
}
