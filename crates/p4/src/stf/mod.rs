//! Packet tests in p4c's STF format: table entries, arriving packets, and expected departing packets.
//!
//! Beyond p4c's lines, there are some for the functions of `p4/hitless.p4`: `depth PORT QUEUE BYTES`, `limit PORT QUEUE
//! BYTES`, `round PORT ROUND FIRST QUEUES`, `time NS`, `hash VALUE` and `route PORT` set their results; `event KIND
//! PORT TOKEN` sends a generated packet; `expect_queue PORT QUEUE` checks the queue of the last packet. `registers
//! NAME=VALUE NAME[INDEX]=VALUE ...` sets all registers to 0 except the listed ones.

mod entries;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crate::commands::named;
use crate::error::{Error, Result, refuse};
use crate::fabric::{Answers, Rounds};
use crate::observer::Observer;
use crate::packet::Instance;
use crate::pipeline::Pipeline;
use crate::program::Program;
use crate::values::small;

/// The port of arrival of generated packets.
pub const GENERATOR_PORT: u32 = 510;
pub const GENERATED_BYTES: usize = 60;
/// Time between packets in ns, unless the test sets it.
const STEP_NS: u64 = 1_000_000;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outcome {
    /// Number of packets sent to the switch.
    pub sent: usize,
    /// Number of packets that departed as expected.
    pub matched: usize,
    /// Deviations; empty if the test passes.
    pub failures: Vec<String>,
    /// Output of commands.
    pub answers: Vec<String>,
}

struct Test<'o, O> {
    pipeline: Pipeline,
    observer: &'o mut O,
    answers: Answers,
    now_ns: u64,
    steps: bool,
    expected: BTreeMap<u32, VecDeque<(usize, String)>>,
    anything: BTreeSet<u32>,
    left: BTreeMap<u32, VecDeque<Vec<u8>>>,
    outcome: Outcome,
}

/// Runs the test in `text`, with `file` as its name, on `program`; `observer` sees the events of each packet.
pub fn run<O: Observer>(program: &Arc<Program>, text: &str, file: &str, observer: &mut O) -> Result<Outcome> {
    let mut test = Test {
        pipeline: Pipeline::new(program.clone(), 1),
        observer,
        answers: Answers { routed_port: 511, ..Answers::default() },
        now_ns: STEP_NS,
        steps: true,
        expected: BTreeMap::new(),
        anything: BTreeSet::new(),
        left: BTreeMap::new(),
        outcome: Outcome::default(),
    };
    for (number, line) in text.lines().enumerate() {
        test.line(line, number + 1).map_err(|error| error.at(Some(format!("{file}:{}", number + 1))))?;
    }
    test.finish();
    Ok(test.outcome)
}

impl<O: Observer> Test<'_, O> {
    fn line(&mut self, line: &str, number: usize) -> Result<()> {
        let line = line.split('#').next().unwrap_or_default().trim();
        let Some(command) = line.split_whitespace().next() else { return Ok(()) };
        let rest = line[command.len()..].trim();
        match command.to_ascii_lowercase().as_str() {
            "packet" => {
                let (port, data) = port_and_data(rest)?;
                let bytes = crate::json::hex_bytes(&data)?;
                self.send(port, &bytes, Instance::Normal);
            }
            "expect" => {
                let (port, data) = port_and_data(rest)?;
                if data.is_empty() {
                    self.anything.insert(port);
                } else {
                    self.expected.entry(port).or_default().push_back((number, data));
                }
            }
            "no_packet" | "wait" => {}
            "add" => {
                let command = entries::add(&self.pipeline.program, rest)?;
                self.command(&command)?;
            }
            "setdefault" => {
                let command = entries::set_default(&self.pipeline.program, rest)?;
                self.command(&command)?;
            }
            "remove" => (0..self.pipeline.program.tables.len()).for_each(|table| {
                let program = self.pipeline.program.clone();
                self.pipeline.state.tables[table].clear(&program.tables[table]);
            }),
            "registers" => self.registers(rest)?,
            "check_counter" => self.check_counter(rest, number)?,
            "depth" | "limit" | "round" | "time" | "hash" | "route" | "event" | "expect_queue" | "serve"
            | "expect_waiting" => {
                self.beyond(command, rest, number)?;
            }
            _ => self.command(line)?,
        }
        Ok(())
    }

    fn command(&mut self, line: &str) -> Result<()> {
        let answer = self.pipeline.commands(self.now_ns).line(line)?;
        self.outcome.answers.extend(answer);
        Ok(())
    }

    fn registers(&mut self, rest: &str) -> Result<()> {
        self.pipeline.state.registers.iter_mut().for_each(|array| array.words.fill(0));
        for word in rest.split_whitespace() {
            let Some((cell, value)) = word.split_once('=') else { refuse!("\"{word}\" is no NAME=VALUE") };
            let (name, index) = cell.strip_suffix(']').and_then(|cell| cell.split_once('[')).unwrap_or((cell, "0"));
            self.command(&format!("register_write {name} {index} {value}"))?;
        }
        Ok(())
    }

    fn send(&mut self, port: u32, bytes: &[u8], instance: Instance) {
        let left = &mut self.left;
        let mut keep = |port: u32, bytes: &[u8]| left.entry(port).or_default().push_back(bytes.to_vec());
        self.answers.packet_bytes = bytes.len() as u64;
        let came = (port, bytes, instance);
        self.pipeline.process(came, self.now_ns, &mut self.answers, self.observer, &mut keep);
        self.outcome.sent += 1;
        self.now_ns += if self.steps { STEP_NS } else { 0 };
    }

    fn beyond(&mut self, command: &str, rest: &str, number: usize) -> Result<()> {
        let values: Result<Vec<_>> = rest.split_whitespace().map(small).collect();
        let values = values?;
        let narrow = |value: u64| u32::try_from(value).map_err(|_| Error::new(format!("{value} is too great")));
        match (command, values.as_slice()) {
            ("depth", &[port, queue, bytes]) => {
                self.answers.depths.insert((narrow(port)?, narrow(queue)?), bytes);
            }
            ("limit", &[port, queue, bytes]) => {
                self.answers.limits.insert((narrow(port)?, narrow(queue)?), bytes);
            }
            ("round", &[port, current, first, queues]) => {
                let rounds = Rounds { current, first_queue: narrow(first)?, queues: narrow(queues)? };
                self.answers.rounds.insert(narrow(port)?, rounds);
            }
            ("time", &[now_ns]) => (self.now_ns, self.steps) = (now_ns, false),
            ("hash", &[hash]) => self.answers.flow_hash = narrow(hash)?,
            ("route", &[port]) => self.answers.routed_port = narrow(port)?,
            ("event", &[kind, port, token]) => {
                let bytes = generated(kind as u8, port as u16, narrow(token)?, self.now_ns);
                self.send(GENERATOR_PORT, &bytes, Instance::Generated);
            }
            ("serve", &[port, queue]) => {
                let at = (narrow(port)?, narrow(queue)?);
                let left = &mut self.left;
                let mut keep = |port: u32, bytes: &[u8]| left.entry(port).or_default().push_back(bytes.to_vec());
                let is_paused = self.answers.paused.contains(&at);
                let now_ns = self.now_ns;
                if is_paused || !self.pipeline.serve(at, now_ns, &mut self.answers, self.observer, &mut keep) {
                    let state = if is_paused { "stands still" } else { "is empty" };
                    self.fail(number, &format!("queue {queue} of port {port} {state}"));
                }
            }
            ("expect_waiting", &[port, queue, count]) => {
                let waiting = self.pipeline.held(narrow(port)?, narrow(queue)?) as u64;
                if waiting != count {
                    self.fail(number, &format!("{waiting} packets wait in queue {queue} of port {port}"));
                }
            }
            ("expect_queue", &[port, queue]) => {
                let expected = Some((narrow(port)?, narrow(queue)?));
                let was = self.pipeline.last_queue;
                if was != expected {
                    self.fail(number, &format!("the last packet was put into {was:?} (port, queue)"));
                }
            }
            _ => refuse!("\"{command} {rest}\" has the wrong number of values"),
        }
        Ok(())
    }

    fn fail(&mut self, line: usize, what: &str) {
        self.outcome.failures.push(format!("line {line}: {what}"));
    }

    fn check_counter(&mut self, rest: &str, number: usize) -> Result<()> {
        let (name, rest) = rest.split_once('(').ok_or_else(|| Error::new("check_counter needs NAME(INDEX)"))?;
        let (index, rest) = rest.split_once(')').ok_or_else(|| Error::new("check_counter needs NAME(INDEX)"))?;
        let words: Vec<_> = rest.split_whitespace().collect();
        let program = self.pipeline.program.clone();
        let array = named(&program.counters, "counter array", &[name.trim()])?;
        let index = small(index.trim())?;
        let Some(&mut counter) = self.pipeline.state.counter(&program, array, index) else {
            refuse!("{name} has no counter {index}")
        };
        let (value, relation, expected) = match words[..] {
            [] => (counter.packets, "==", 0),
            ["packets", relation, value] => (counter.packets, relation, small(value)?),
            ["bytes", relation, value] => (counter.bytes, relation, small(value)?),
            _ => refuse!("check_counter cannot be read from \"{rest}\""),
        };
        let holds = match relation {
            "==" => value == expected,
            "!=" => value != expected,
            "<" => value < expected,
            "<=" => value <= expected,
            ">" => value > expected,
            ">=" => value >= expected,
            other => refuse!("\"{other}\" is no comparison"),
        };
        if !holds {
            self.fail(number, &format!("{name}[{index}] is {value}, and {relation} {expected} is expected"));
        }
        Ok(())
    }

    /// Compares departed with expected packets, port by port.
    fn finish(&mut self) {
        let ports: BTreeSet<u32> =
            self.left.keys().chain(self.expected.keys()).chain(&self.anything).copied().collect();
        for port in ports {
            let left = self.left.remove(&port).unwrap_or_default();
            let expected = self.expected.remove(&port).unwrap_or_default();
            if self.anything.contains(&port) && expected.is_empty() {
                if left.is_empty() {
                    self.outcome.failures.push(format!("port {port}: no packet left, and one is expected"));
                }
                self.outcome.matched += left.len();
                continue;
            }
            if left.len() != expected.len() {
                let bytes: Vec<_> = left.iter().map(|bytes| hex(bytes)).collect();
                let (count, wanted) = (left.len(), expected.len());
                let list = if bytes.is_empty() { String::new() } else { format!(" ({})", bytes.join(", ")) };
                let text = format!("port {port}: {count} packets left{list}, and {wanted} are expected");
                self.outcome.failures.push(text);
                continue;
            }
            for ((line, pattern), bytes) in expected.iter().zip(&left) {
                match differs(pattern, bytes) {
                    None => self.outcome.matched += 1,
                    Some(what) => {
                        let text = format!("{what}\n  expected {pattern}\n  left     {}", hex(bytes));
                        self.fail(*line, &format!("port {port}: {text}"));
                    }
                }
            }
        }
    }
}

/// The bytes of a packet from the packet generator, laid out as `generated_t` of `p4/hitless.p4`.
pub fn generated(kind: u8, port: u16, token: u32, at_ns: u64) -> [u8; GENERATED_BYTES] {
    let mut bytes = [0; GENERATED_BYTES];
    bytes[0] = kind;
    bytes[2..4].copy_from_slice(&port.to_be_bytes());
    bytes[4..8].copy_from_slice(&token.to_be_bytes());
    bytes[8..14].copy_from_slice(&at_ns.to_be_bytes()[2..]);
    bytes
}

fn port_and_data(text: &str) -> Result<(u32, String)> {
    let port = text.split_whitespace().next().unwrap_or_default();
    let number = port.parse().map_err(|_| Error::new(format!("\"{port}\" is no port")))?;
    Ok((number, text[port.len()..].split_whitespace().collect()))
}

pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Describes the difference between a packet and its pattern: hexadecimal digits, "*" for any digit, "$" for the end of
/// the packet.
fn differs(pattern: &str, bytes: &[u8]) -> Option<String> {
    let (digits, is_whole) = pattern.strip_suffix('$').map_or((pattern, false), |digits| (digits, true));
    let left = hex(bytes);
    if left.len() < digits.len() || (is_whole && left.len() > digits.len()) {
        return Some(format!("the packet has {} bytes, and {} are expected", bytes.len(), digits.len().div_ceil(2)));
    }
    let place = digits
        .bytes()
        .zip(left.bytes())
        .position(|(expected, was)| expected != b'*' && !expected.eq_ignore_ascii_case(&was));
    place.map(|place| format!("the packet is otherwise from byte {} on", place / 2))
}
