//! A packet's path as text: parser, tables with keys and actions, deparser.

use std::fmt::Write;

use crate::bits::Slot;
use crate::number::{Number, Wide};
use crate::observer::{Event, Observer, Point};
use crate::packet::Packet;
use crate::program::{MatchKind, Program, Table};

#[derive(Clone, Debug, Default)]
pub struct Trace {
    /// One line for each event, indented below the event that contains it.
    pub lines: Vec<String>,
}

impl Observer for Trace {
    fn see(&mut self, program: &Program, event: Event<'_>) {
        let line = match event {
            Event::At(point) => at(point),
            Event::State(state) => format!("  parser state {}", program.states[state as usize].name),
            Event::Extracted(header, packet) => format!("    extracted {}", header_text(program, header, packet)),
            Event::Selected(key, next) => {
                let next = next.map_or("accept", |next| &program.states[next as usize].name);
                format!("    select 0x{} -> {next}", crate::stf::hex(key))
            }
            Event::ParserError(error) => {
                let known = program.error_names.iter().find(|(_, number)| *number == error);
                format!("    parser error {}", known.map_or("unknown", |(name, _)| name))
            }
            Event::BadChecksum(number, value) => {
                format!("  checksum {} is wrong: it should be 0x{value:x}", program.checksums[number as usize].name)
            }
            Event::Updated(number, value) => {
                format!("  checksum {} becomes 0x{value:x}", program.checksums[number as usize].name)
            }
            Event::Lookup { table, key, entry, call } => {
                lookup(program, &program.tables[table as usize], key, entry, call)
            }
            Event::Condition(place, holds) => format!("  condition at {place}: {holds}"),
            Event::Call(action) => format!("  action {}", program.actions[action as usize].name),
            Event::Log(text) => format!("  log: {text}"),
            Event::Assert(text) => format!("  {text}: the packet ends"),
            Event::Emitted(header, packet) => format!("  emitted {}", header_text(program, header, packet)),
        };
        self.lines.push(line);
    }
}

fn at(point: Point) -> String {
    match point {
        Point::Arrival(port) => format!("comes in at port {port}"),
        Point::Ingress => "ingress".to_string(),
        Point::Queued(port) => format!("queued for port {port}"),
        Point::Egress(port) => format!("egress, port {port}"),
        Point::IngressDrop => "dropped in ingress".to_string(),
        Point::EgressDrop => "dropped in egress".to_string(),
        Point::Cloned(port) => format!("a clone goes to port {port}"),
        Point::Replicated(port) => format!("a copy of the multicast goes to port {port}"),
        Point::Resubmitted => "resubmitted".to_string(),
        Point::Recirculated => "recirculated".to_string(),
        Point::Departure(port) => format!("leaves by port {port}"),
    }
}

fn lookup(program: &Program, table: &Table, key: &[u64], entry: Option<u32>, call: Option<(u32, &[u8])>) -> String {
    let mut line = format!("  table {}", table.name);
    for of in &table.key {
        let words = &key[of.word as usize..of.word as usize + of.words()];
        let kind = if of.kind == MatchKind::Exact { String::new() } else { format!(" ({})", of.kind.name()) };
        let _ = write!(line, "\n    {}{kind} = {}", of.name, value(&Wide::from_words(words), of.width));
    }
    let found = entry.map_or_else(|| "miss".to_string(), |handle| format!("entry {handle}"));
    let _ = match call {
        Some((action, data)) => {
            let action = &program.actions[action as usize];
            let parameters = action.parameters.iter();
            let parameters: Vec<_> = parameters
                .map(|(name, slot)| format!("{name} {}", value(&Wide::read(data, *slot), slot.width)))
                .collect();
            write!(line, "\n    {found} -> {}({})", action.name, parameters.join(", "))
        }
        None => write!(line, "\n    {found}, no action"),
    };
    line
}

fn header_text(program: &Program, header: u32, packet: &Packet) -> String {
    let of = &program.headers[header as usize];
    let fields = program.fields[of.fields.start as usize..of.fields.end as usize].iter().map(|field| {
        let width = if field.is_varbit { packet.var_bits[header as usize] } else { field.slot.width };
        let slot = Slot { width, is_signed: false, ..field.slot };
        format!("{} {}", field.name, value(&Wide::read(&packet.values, slot), width))
    });
    let fields: Vec<_> = fields.collect();
    format!("{}: {}", of.name, fields.join(", "))
}

/// Formats a value by its width: addresses in their notation, small numbers in decimal, others in hexadecimal.
fn value(of: &Wide, width: u32) -> String {
    let low = of.word(0);
    match width {
        0..=9 => low.to_string(),
        32 if low >= 1 << 24 => {
            let [_, _, _, _, a, b, c, d] = low.to_be_bytes();
            format!("{a}.{b}.{c}.{d}")
        }
        48 => {
            let bytes: Vec<_> = low.to_be_bytes()[2..].iter().map(|byte| format!("{byte:02x}")).collect();
            bytes.join(":")
        }
        10..=64 => format!("0x{low:x}"),
        _ => {
            let words = width.div_ceil(64) as usize;
            let text: String = (0..words).rev().map(|word| format!("{:016x}", of.word(word))).collect();
            let text = text.trim_start_matches('0');
            format!("0x{}", if text.is_empty() { "0" } else { text })
        }
    }
}
