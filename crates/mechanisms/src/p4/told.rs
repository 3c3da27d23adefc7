//! Failed requests of a program: missing ports and queues, and headers that no simulated packet has. The end of a run
//! reports them, with the lines of the program.

use std::collections::BTreeMap;

use hitless_p4::packet::Packet as Frame;
use hitless_p4::program::Program;
use hitless_p4::source::FieldNumber;
use hitless_switch::Report;

use super::bytes::{Cause, Limit};
use super::queues::Queues;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, hitless_core::state::Value)]
pub enum Missing {
    Port(u32),
    Queue(u32, u32),
    /// A multicast group without copies.
    Group(u32),
    Session(u32),
}

#[derive(Debug, Default, hitless_core::state::Value)]
pub struct InVain {
    missing: BTreeMap<Missing, u64>,
    /// Counts by limit, by the written field if there is one, and by whether the length was changed.
    limits: BTreeMap<(&'static str, Option<FieldNumber>, bool), u64>,
}

impl InVain {
    pub fn note_missing(&mut self, what: Missing) {
        *self.missing.entry(what).or_default() += 1;
    }

    /// Counts a packet that cannot be carried as `frame` leaves.
    pub fn note_limit(&mut self, limit: Limit, program: &Program, frame: &Frame) {
        let field = match limit.cause {
            Cause::Byte(byte) => program.field_at(frame, byte as usize),
            Cause::Length | Cause::Headers => None,
        };
        *self.limits.entry((limit.what, field, limit.cause == Cause::Length)).or_default() += 1;
    }

    pub fn report(&self, program: &Program, queues: &Queues, report: &mut Report) {
        for (what, packets) in &self.missing {
            let text = match *what {
                Missing::Port(port) => {
                    let last = queues.ports().count() - 1;
                    format!("were for port {port}, and the switch has the ports 0 to {last}")
                }
                Missing::Queue(port, queue) => {
                    format!("were for queue {queue} of port {port}, whose queues are: {}", queues.names(port))
                }
                Missing::Group(group) => {
                    format!("were for multicast group {group}, which has no copies to ports of the switch")
                }
                Missing::Session(session) => format!("were clones for session {session}, which is not configured"),
            };
            report.warnings.push(format!("{packets} packets {text}"));
        }
        report.limits.extend(self.limits.keys().map(|&limit| told(program, limit)));
    }
}

/// Describes an exceeded limit, with the lines that exceeded it.
fn told(program: &Program, (what, field, is_length): (&str, Option<FieldNumber>, bool)) -> String {
    let (places, did) = match field {
        Some(field) => (program.writers(field), format!("writes {}", program.field_name(field))),
        None if is_length => (program.resizers(), "adds or removes headers, or truncates the packet".to_owned()),
        None => {
            return format!("{}: the program leaves {what}, and a simulated packet cannot carry that", program.name);
        }
    };
    let places = places.into_iter().collect::<Vec<_>>().join(", ");
    let place = if places.is_empty() { &program.name } else { &places };
    let hint = "the fields of a simulated packet are listed in docs/how-to/p4.md";
    format!("{place}: the program {did}, and a simulated packet cannot carry that: {what}\n  hint: {hint}")
}
