//! Blocking mode over millions of packets: random losses and bursts in both directions, late control messages,
//! protection that starts and ends under traffic, mode changes, and wrapping numbers.
//!
//! `HITLESS_ENDURANCE_PACKETS=100000000` is the nightly size; `HITLESS_ENDURANCE_CASE=N` replays a case.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{IsTerminal, Write};
use std::rc::Rc;
use std::time::Instant;

use hitless_core::wire::shim::CheckNumber;
use hitless_core::wire::{BitRate, Duration, Packet, Time};
use hitless_mechanisms::linkguardian::headers::LossNotification;
use hitless_mechanisms::linkguardian::{Action, Buffering, Command, Mode};
use hitless_switch::DropReason;
use hitless_switch::LinkEnd;

use super::losses::{Bursts, Random, is_control};
use super::{Fates, frame_time, guardians, in_a_rack, pair_with_fates, receiver, sender};
use crate::two_switches::{Ends, Fate, LINK, Pair};

const PACKETS: &str = "HITLESS_ENDURANCE_PACKETS";
const CASE: &str = "HITLESS_ENDURANCE_CASE";

#[derive(Clone, Copy, Debug)]
struct Case {
    rate_gbps: u64,
    buffering: Buffering,
    copies: u32,
    control_copies: u32,
    loss_per_million: u64,
    burst_length: u64,
    reverse_loss_per_million: u64,
    late_per_million: u64,
    first_number: u16,
    packets: u64,
    /// Number of times that protection ends and starts again.
    pauses_of_protection: u64,
    /// Period of repeated loss notifications; 0 never repeats them.
    notification_period_ns: u64,
}

impl Case {
    fn new(number: u64) -> Self {
        let mut random = Random::new(number);
        let mut one_of = |values: &[u64]| values[random.below(values.len() as u64) as usize];
        let rate_gbps = one_of(&[10, 25, 100]);
        let buffering = [Buffering::Recirculation, Buffering::PausedQueue][one_of(&[0, 1]) as usize];
        Self {
            rate_gbps,
            buffering,
            copies: one_of(&[1, 2, 3, 4]) as u32,
            control_copies: one_of(&[1, 1, 2, 3]) as u32,
            loss_per_million: one_of(&[0, 10, 1_000, 10_000, 50_000, 200_000]),
            burst_length: one_of(&[1, 1, 2, 4, 20]),
            reverse_loss_per_million: one_of(&[0, 0, 1_000, 50_000]),
            late_per_million: one_of(&[0, 0, 10_000, 100_000]),
            first_number: one_of(&[0, 60_000, 65_530]) as u16,
            packets: one_of(&[200, 2_000, 20_000]),
            pauses_of_protection: one_of(&[0, 0, 3, 30]),
            notification_period_ns: one_of(&[0, 0, 2_000]),
        }
    }
}

/// The fate of packets on the link, by the checker's number, and of the notifications.
#[derive(Default)]
struct Witness {
    /// Frames on the link and those lost, by packet.
    frames: BTreeMap<u32, (u32, u32)>,
    /// Losses named in notifications that were lost or late.
    unreported: u64,
}

impl Witness {
    fn see(&mut self, packet: &Packet, is_lost: bool) {
        if let Some(CheckNumber(number)) = packet.shims.get() {
            let (sent, lost) = self.frames.entry(number).or_default();
            *sent += 1;
            *lost += u32::from(is_lost);
        }
    }

    /// The number of packets with at least one frame at the receiver.
    fn arrived(&self) -> u64 {
        self.frames.values().filter(|&&(sent, lost)| sent > lost).count() as u64
    }

    /// The number of packets that were lost although the protection could have sent another copy.
    fn lost_without_excuse(&self, copies: u32) -> u64 {
        self.frames.values().filter(|&&(sent, lost)| sent == lost && sent != 1 + copies).count() as u64
    }
}

fn fates(case: Case, seed: u64, witness: &Rc<RefCell<Witness>>) -> [Fates; 2] {
    let mut forth = Bursts::new(seed ^ 1, case.loss_per_million, case.burst_length);
    // A burst that loses a resume frame and all its repetitions costs the time requested by the pause frame.
    let mut back = Bursts::new(seed ^ 2, case.reverse_loss_per_million, case.burst_length.min(2));
    let mut random = Random::new(seed ^ 3);
    let (of_data, of_control) = (Rc::clone(witness), Rc::clone(witness));
    let data = move |packet: &Packet| {
        let is_lost = forth.lose();
        of_data.borrow_mut().see(packet, is_lost);
        if is_lost { Fate::Corrupted } else { Fate::Arrives }
    };
    let control = move |packet: &Packet| {
        let is_late = is_control(packet) && random.chance(case.late_per_million);
        let fate = match (back.lose(), is_late) {
            (true, _) => Fate::Corrupted,
            (false, true) => Fate::Late(Duration(random.below(5_000_000))),
            (false, false) => Fate::Arrives,
        };
        if let Some(loss) = packet.shims.get::<LossNotification>().filter(|_| fate != Fate::Arrives) {
            of_control.borrow_mut().unreported += u64::from(loss.count);
        }
        fate
    };
    [Box::new(data), Box::new(control)]
}

fn ends(case: Case) -> Ends {
    let rate = BitRate::from_gbps(case.rate_gbps);
    let timeout = in_a_rack(rate).acknowledgement_timeout(case.copies);
    let (resume_threshold, pause_threshold) = in_a_rack(rate).thresholds();
    let mut of_sender = sender(Mode::Blocking, case.copies, case.buffering);
    of_sender.first_number = case.first_number;
    of_sender.handshake = case.first_number != 0;
    of_sender.tail_probes = true;
    of_sender.probe_period = timeout;
    let mut of_receiver = receiver(case.buffering);
    of_receiver.acknowledgement_timeout = timeout;
    (of_receiver.resume_threshold, of_receiver.pause_threshold) = (resume_threshold, pause_threshold);
    of_receiver.control_copies = case.control_copies;
    let period = Duration::from_ns(case.notification_period_ns);
    of_receiver.notification_period = (period > Duration::ZERO).then_some(period);
    of_receiver.handshake = of_sender.handshake;
    guardians(of_sender, of_receiver)
}

fn run(number: u64) -> Result<u64, String> {
    let case = Case::new(number);
    let witness = Rc::default();
    let mut pair = pair_with_fates(case.rate_gbps, ends(case), fates(case, number, &witness));
    let mut random = Random::new(number ^ 4);
    let (mut first, mut start) = (0, 1_000_000);
    while first < case.packets {
        let count = (1 + random.below(400)).min(case.packets - first);
        pair.inject(0, Time(start), first, count);
        first += count;
        let line = frame_time(BitRate::from_gbps(case.rate_gbps)) * count;
        start += line.as_ps() + random.below(20_000_000);
    }
    for turn in 0..case.pauses_of_protection {
        let at = Time(1_000_000 + random.below(start));
        let action = if turn % 2 == 0 { Action::Deactivate } else { Action::Activate };
        for (switch, end) in [(0, LinkEnd::Sender), (1, LinkEnd::Receiver)] {
            pair.command(switch, at, Command { port: LINK, end, action });
        }
    }
    pair.run();
    judge(case, &pair, &witness.borrow()).map_err(|wrong| format!("{wrong}; {case:?}"))?;
    Ok(case.packets)
}

fn judge(case: Case, pair: &Pair, witness: &Witness) -> Result<(), String> {
    let require = |holds: bool, wrong: String| if holds { Ok(()) } else { Err(wrong) };
    let delivered = &pair.numbers(1);
    let disorder = delivered.windows(2).find(|two| two[0] >= two[1]);
    require(disorder.is_none(), format!("out of order or twice: {disorder:?}"))?;
    let broken = pair.violated_invariants();
    require(broken.is_empty(), format!("{broken:?}"))?;
    let beyond = pair.counter("losses_beyond_registers");
    let unexcused = witness.lost_without_excuse(case.copies);
    let excuses = beyond + witness.unreported + pair.world.ended[DropReason::QueueFull as usize];
    require(unexcused <= excuses, format!("{unexcused} lost although a copy could have come, {excuses} excuses"))?;
    // A dummy and an acknowledgement stay parked.
    let left = pair.alive();
    require(left == 2, format!("{left} packets are left in the switches"))?;
    let protected = pair.counter("packets_protected");
    let lost = pair.counter("packets_lost");
    let delivered_protected = pair.counter("packets_delivered");
    require(delivered_protected + lost <= protected, format!("{delivered_protected} + {lost} of {protected}"))?;
    // Packets that arrive after they were given up are dropped, and so are those without room.
    let undelivered = witness.arrived().saturating_sub(delivered_protected);
    let timeouts = pair.counter("ack_no_timeouts");
    let excuses = timeouts + pair.world.ended[DropReason::QueueFull as usize];
    require(undelivered <= excuses, format!("{undelivered} came and went no further, {excuses} excuses"))?;
    stalls(case, pair)
}

/// Checks from outside how long nothing was delivered although something had been sent.
fn stalls(case: Case, pair: &Pair) -> Result<(), String> {
    // A lost resume frame without repetition costs the time requested by the pause frame.
    let may_stay_paused = case.reverse_loss_per_million > 0 && case.control_copies == 1;
    if case.pauses_of_protection > 0 || may_stay_paused {
        return Ok(());
    }
    let rate = BitRate::from_gbps(case.rate_gbps);
    let timeout = in_a_rack(rate).acknowledgement_timeout(case.copies);
    for two in pair.world.delivered[1].windows(2) {
        let [(before, before_at), (after, after_at)] = [two[0], two[1]].map(|delivery| (delivery.number, delivery.at));
        let Some(injected_at) = pair.injected_at(after) else { continue };
        let waited = after_at.saturating_since(injected_at.max(before_at));
        let lost_between = after - before - 1;
        // A round through a full reordering buffer, a pause at the sender, and the delay of the path.
        let way = Duration::from_us(40) + frame_time(rate) * 40;
        // The time until a lost tail is noticed: bursts lose probes too.
        let until_noticed =
            if case.loss_per_million > 0 { timeout * (16 + 10 * case.burst_length) } else { Duration::ZERO };
        let most = (timeout + Duration::from_ns(200)) * (lost_between + 2) + way + until_noticed;
        if waited > most {
            return Err(format!("{after} waited for {waited} after {before}, at most {most} is due"));
        }
    }
    Ok(())
}

fn variable(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap_or_else(|_| panic!("{name}={text} is no number")))
}

#[test]
fn over_a_million_packets_blocking_mode_keeps_its_promises() {
    if let Some(number) = variable(CASE) {
        run(number).unwrap_or_else(|wrong| panic!("case {number}: {wrong}"));
        return;
    }
    let goal = variable(PACKETS).unwrap_or(1_000_000);
    let began = Instant::now();
    let (mut done, mut number, mut told_s) = (0, 0, 0);
    while done < goal {
        done += run(number).unwrap_or_else(|wrong| {
            panic!(
                "case {number}: {wrong}\nreplay: {CASE}={number} cargo test -p hitless-mechanisms --test mechanisms \
                 over_a_million_packets"
            )
        });
        number += 1;
        let elapsed_s = began.elapsed().as_secs();
        if elapsed_s >= told_s + 10 {
            told_s = elapsed_s;
            tell(done, goal, elapsed_s);
        }
    }
}

/// Prints progress of a long run, past the capturing of tests.
fn tell(done: u64, goal: u64, elapsed_s: u64) {
    let left_s = elapsed_s * goal.saturating_sub(done) / done.max(1);
    let end = if std::io::stderr().is_terminal() { '\r' } else { '\n' };
    let _ = write!(std::io::stderr(), "endurance: {done} of {goal} packets, about {left_s} s left{end}");
}
