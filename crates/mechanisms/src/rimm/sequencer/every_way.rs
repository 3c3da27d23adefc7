//! Explores up to six packets of a slot in every order of returns, detours and losses.

use hitless_core::wire::{Duration, PortId};
use hitless_switch::explore::{Choices, Explored, explore};
use hitless_switch::{Half, Pass};

use super::super::alarm::Phase;
use super::super::clock::Stamp;
use super::super::settings::{RimmRelease, RimmSettings};
use super::{Gate, NewTurn, ReturnTurn, Sequencer};

const TIMEOUT_NS: u32 = 1_000;

fn pass() -> Pass {
    let mut pass = Pass::new(true);
    pass.begin(Half::Ingress);
    pass
}

/// A slot, its packets that are away with their numbers, and the forwarded packets.
struct Slot {
    packets: u32,
    sequencer: Sequencer,
    away: Vec<(u32, u32)>,
    forwarded: Vec<u32>,
    lost: u32,
    sent: u32,
    now_ns: u32,
}

impl Slot {
    fn new_packet(&mut self, phase: Phase) {
        let name = self.sent;
        self.sent += 1;
        match self.sequencer.new_packet(&mut pass(), 0, (PortId(0), phase), true, Stamp::default()) {
            NewTurn::Forward => self.forwarded.push(name),
            NewTurn::Detour { number, .. } => self.away.push((name, number)),
        }
    }

    fn comes_back(&mut self, place: usize, gate: Gate) {
        let (name, number) = self.away.remove(place);
        self.now_ns += 10;
        match self.sequencer.returning(&mut pass(), 0, number, gate, self.now_ns).0 {
            ReturnTurn::Detour => self.away.push((name, number)),
            ReturnTurn::Released | ReturnTurn::Early | ReturnTurn::Late => self.forwarded.push(name),
        }
    }

    /// Lets the packets that are away come round with a short queue, until all have been forwarded.
    fn settle(&mut self) -> Result<(), String> {
        for _ in 0..40 * self.packets {
            if self.away.is_empty() {
                return Ok(());
            }
            self.now_ns += TIMEOUT_NS / 4;
            self.comes_back(0, Gate::Open);
        }
        Err(format!("{:?} go round for ever", self.away))
    }
}

/// A step: a new packet, or the return or the loss of a packet that is away, with a short or a long queue.
fn step(slot: &mut Slot, choices: &Choices) {
    let away = slot.away.len();
    let kinds = usize::from(slot.sent < slot.packets) + away;
    let chosen = choices.any(kinds);
    if chosen < away {
        match choices.fault(3) {
            0 => slot.comes_back(chosen, Gate::Open),
            1 => slot.comes_back(chosen, Gate::Closed),
            _ => {
                slot.away.remove(chosen);
                slot.lost += 1;
            }
        }
    } else {
        let phase = if choices.fault(2) == 0 { Phase::Detour } else { Phase::NoAlarm };
        slot.new_packet(phase);
    }
}

/// Every packet that is not lost is forwarded once, and in order if nothing was lost: existing packets are not given
/// up.
fn judge(slot: &Slot) -> Result<(), String> {
    let mut sorted = slot.forwarded.clone();
    sorted.sort_unstable();
    sorted.dedup();
    if sorted.len() != slot.forwarded.len() || sorted.len() as u32 + slot.lost != slot.packets {
        return Err(format!("forwarded {:?}, and {} were lost", slot.forwarded, slot.lost));
    }
    if slot.lost == 0 && sorted != slot.forwarded {
        return Err(format!("forwarded {:?}", slot.forwarded));
    }
    Ok(())
}

/// Explores a world in which numbers wrap behind the second packet.
fn explored(packets: u32, faults: usize) -> Explored {
    explore(faults, |choices| {
        let predecessor_timeout = Some(Duration::from_ns(TIMEOUT_NS.into()));
        let (release, hash_bits) = (RimmRelease::Exact, 0);
        let settings = RimmSettings { release, hash_bits, predecessor_timeout, ..RimmSettings::default() };
        let sequencer = Sequencer::new(&settings, u32::MAX - 1);
        let (away, forwarded) = (Vec::new(), Vec::new());
        let mut slot = Slot { packets, sequencer, away, forwarded, lost: 0, sent: 0, now_ns: 1 };
        for _ in 0..2 * packets {
            if slot.sent < packets || !slot.away.is_empty() {
                step(&mut slot, choices);
            }
        }
        while slot.sent < packets {
            slot.new_packet(Phase::NoAlarm);
        }
        slot.settle()?;
        judge(&slot)
    })
}

#[test]
fn in_every_order_of_returns_packets_leave_in_order_and_once() {
    for (packets, faults, ways) in [(6, 0, 5_000), (4, 2, 5_000)] {
        let found = explored(packets, faults);
        println!("{packets} packets, {faults} faults: {found:?}");
        assert!(found.ways > ways, "{found:?}");
    }
}
