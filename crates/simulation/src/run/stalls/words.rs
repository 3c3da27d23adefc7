//! Waits in words.

use std::fmt::Write;

use hitless_core::wire::{FlowId, PortId, Time};
use hitless_scenario::network::topology::SwitchId;

use super::View;
use super::flows::{Cause, State, Survey, Waiting};
use super::gates::Gate;
use crate::run::edge::Edge;
use crate::run::rows::Losses;

/// Causes named in the sentence.
const CAUSES: usize = 3;

/// Ports of a chain of waits that are named.
const LINKS: usize = 6;

/// A time in microseconds, with separators: "1,203 us"; below 100 us with up to three decimals: "0.5 us".
pub(super) fn in_us(at: Time) -> String {
    if at.as_ps() < 100_000_000 {
        let exact = format!("{:.3}", at.as_ps() as f64 / 1e6);
        return format!("{} us", exact.trim_end_matches('0').trim_end_matches('.'));
    }
    let digits = (at.as_ps() / 1_000_000).to_string();
    let mut text = String::new();
    for (place, digit) in digits.chars().enumerate() {
        if place > 0 && (digits.len() - place).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text + " us"
}

impl<E: Edge> View<'_, E> {
    /// The sentence about all flows of a survey; `None` if all have ended.
    pub(super) fn sentence(&self, survey: &Survey) -> Option<String> {
        let of = |state: State| survey.rows.iter().filter(move |row| row.state == state);
        let count = |state: State| of(state).count();
        let (stalled, moving, waiting) = (count(State::Stalled), count(State::Moving), count(State::NotStarted));
        let mut parts = Vec::new();
        if stalled > 0 {
            let rows: Vec<&Waiting> = of(State::Stalled).collect();
            let counted = match moving {
                0 => format!("{} stalled", flows(stalled)),
                _ => format!("{} unfinished, {stalled} of them stalled", flows(stalled + moving)),
            };
            parts.push(format!("{counted}: {}", self.causes(&rows)));
        } else if moving > 0 {
            let all = if moving == 1 { "and moving" } else { "all moving" };
            parts.push(format!("{} unfinished, {all}", flows(moving)));
        }
        let gave_up: Vec<&Waiting> = of(State::GaveUp).collect();
        if gave_up.len() as u64 + survey.gave_up_earlier > 0 {
            let total = gave_up.len() + survey.gave_up_earlier as usize;
            let named = if gave_up.is_empty() { String::new() } else { format!(": {}", self.causes(&gave_up)) };
            parts.push(format!("{} gave up{named}", flows(total)));
        }
        if let Some(first) = of(State::NotStarted).next() {
            parts.push(format!("{} not started: {}", flows(waiting), self.named_with_reason(first)));
        }
        (!parts.is_empty()).then(|| parts.join(". "))
    }

    /// Names the first flow of each cause, with the number of further flows.
    fn causes(&self, rows: &[&Waiting]) -> String {
        let mut found: Vec<(Cause, &Waiting, usize)> = Vec::new();
        for row in rows {
            let cause = self.root(row.cause);
            match found.iter_mut().find(|(known, ..)| *known == cause) {
                Some((.., others)) => *others += 1,
                None => found.push((cause, row, 0)),
            }
        }
        let told = found.iter().take(CAUSES).map(|&(_, first, others)| {
            let others = match others {
                0 => String::new(),
                1 => ", like 1 other,".to_owned(),
                _ => format!(", like {others} others,"),
            };
            format!("{}{others} {}", self.named(first), self.reason(first))
        });
        let mut text = told.collect::<Vec<_>>().join("; ");
        if found.len() > CAUSES {
            let _ = write!(text, "; {} more causes in the table stalls", found.len() - CAUSES);
        }
        text
    }

    /// A cause that all flows with the same origin share: ports behind one cycle of pauses have the same.
    fn root(&self, cause: Cause) -> Cause {
        let Cause::Gate(gate) = cause else { return cause };
        self.way_into_cycle(gate).1.into_iter().min().map_or(cause, Cause::Gate)
    }

    pub(super) fn named_with_reason(&self, row: &Waiting) -> String {
        format!("{} {}", self.named(row), self.reason(row))
    }

    /// Names a flow: "flow 31 (ring, h3->h4)".
    fn named(&self, row: &Waiting) -> String {
        let (topology, group) = (self.topology(), &self.global.scenario.flows[row.group].name);
        let ends = format!("{}->{}", topology.host(row.source).name, topology.host(row.destination).name);
        match row.flow {
            Some(flow) => format!("flow {} ({group}, {ends})", flow.0),
            None => format!("position {} of {group} ({ends})", row.position),
        }
    }

    /// The reason of a wait, as the predicate of a sentence.
    pub(super) fn reason(&self, row: &Waiting) -> String {
        let reason = self.reason_of(row);
        let timeouts = if row.timeouts == 1 { "1 timeout".to_owned() } else { format!("{} timeouts", row.timeouts) };
        match row.state {
            State::GaveUp => format!("gave up after {timeouts}, at {}; it {reason}", in_us(row.since)),
            _ if row.is_request => format!("waits for its request, which {reason}"),
            _ => reason,
        }
    }

    fn reason_of(&self, row: &Waiting) -> String {
        let topology = self.topology();
        let timer = || match (row.state, row.until) {
            (State::GaveUp, _) => String::new(),
            (_, Time::NEVER) => ", and has no timer".to_owned(),
            (_, until) if row.timeouts == 0 => format!(", and repeats at {}", in_us(until)),
            (_, until) if row.timeouts == 1 => format!(", and repeats at {}, after 1 timeout", in_us(until)),
            (_, until) => format!(", and repeats at {}, after {} timeouts in a row", in_us(until), row.timeouts),
        };
        match row.cause {
            Cause::Moves => "moves".to_owned(),
            Cause::Gate(gate) => self.waits_behind(gate),
            Cause::Mechanism(switch, port) => {
                let link = topology.switch(switch).ports[usize::from(port.0)].link;
                format!("waits at {}, held by {}", topology.link_name(link), self.mechanisms(switch, port))
            }
            Cause::Gap => {
                let host = &topology.host(row.receiver()).name;
                format!("waits in the reorder buffer of {host} for an earlier packet, until {}", in_us(row.until))
            }
            Cause::Credit => {
                let host = &topology.host(row.receiver()).name;
                format!("has no credit of {host} left{}", timer())
            }
            Cause::LinkDown(link, since) => {
                let link = topology.link_name(link);
                format!("needs {link}, which has been down since {}{}", in_us(since), timer())
            }
            Cause::NoRoute(switch, host) => {
                let (switch, host) = (&topology.switch(switch).name, &topology.host(host).name);
                format!("has no route, because {switch} knows no path to {host}{}", timer())
            }
            Cause::Lost => format!("waits for lost packets{}{}", self.lost(row.flow), timer()),
            Cause::Nothing => "waits for nothing: no packet of it is in the network, and no timer is set".to_owned(),
            Cause::Flow(position, Some(flow)) => {
                format!("waits for flow {} (position {position})", flow.0)
            }
            Cause::Flow(position, None) => format!("waits for position {position}, which has not started"),
        }
    }

    fn mechanisms(&self, switch: SwitchId, port: PortId) -> String {
        let mut names: Vec<&str> = self.switch(switch).mechanisms_at(port).collect();
        names.dedup();
        if names.is_empty() { "its switch".to_owned() } else { names.join(" or ") }
    }

    /// The losses of a flow, in parentheses; empty if none is known.
    fn lost(&self, flow: Option<FlowId>) -> String {
        let Some(flow) = flow else { return String::new() };
        let counts = Losses(self.networks);
        let of = |count: u64, place: &str| (count > 0).then(|| format!("{count} {place}"));
        let known = [
            of(counts.dropped(flow).packets, "in switches"),
            of(counts.refused_by_nic(flow), "at full cards"),
            of(counts.to_failures(flow), "on failed links"),
        ];
        let known: Vec<String> = known.into_iter().flatten().collect();
        if known.is_empty() { String::new() } else { format!(" (lost: {})", known.join(", ")) }
    }

    /// The chain of waits from a stuck gate to its cycle.
    fn waits_behind(&self, first: Gate) -> String {
        let name = |&gate: &Gate| self.topology().link_name(self.link_of(gate));
        let peer = self.topology().name(self.topology().ends(self.link_of(first)).1.node);
        let since = self.stopped_since(first).map_or(String::new(), |since| format!(" since {}", in_us(since)));
        let (way, cycle) = self.way_into_cycle(first);
        let class = first.class;
        let has_credits = self.global.scenario.switch.cbfc.is_some();
        let mut text = if has_credits {
            format!("waits behind {}, without credits of {peer} in class {class}{since}", name(&first))
        } else {
            format!("waits behind {}, paused by {peer} in class {class}{since}", name(&first))
        };
        if way.len() > 1 {
            let shown: Vec<String> = way.iter().skip(1).take(LINKS).map(name).collect();
            let rest = if way.len() - 1 > LINKS { ", ..." } else { "" };
            let _ = write!(text, "; {peer} waits for {}{rest}", shown.join(", which waits for "));
        }
        let each_other = if has_credits { "wait for each other" } else { "have paused each other" };
        let _ = write!(text, "; the ports {each_other} for ever: {}", self.cycle_in_words(&cycle));
        text
    }
}

/// A number of flows: "1 flow", "2 flows".
pub(super) fn flows(count: usize) -> String {
    if count == 1 { "1 flow".to_owned() } else { format!("{count} flows") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_separators() {
        for (ps, expected) in [
            (0, "0 us"),
            (500_000, "0.5 us"),
            (12_340_000, "12.34 us"),
            (999_999_999, "999 us"),
            (1_203_000_000, "1,203 us"),
            (1 << 60, "1,152,921,504,606 us"),
        ] {
            assert_eq!(in_us(Time(ps)), expected);
        }
    }
}
