use std::fmt::Write;

use crate::bits::{self, Slot};
use crate::expression::{Computed, View};
use crate::observer::{Event, Observer};
use crate::packet::Packet;
use crate::program::{Beyond, Instruction};
use crate::run::{Run, STEPS_MAX};
use crate::state::{Digest, Registers};

/// The port number for "drop" (`mark_to_drop`), as in BMv2.
pub const DROP_PORT: u64 = 511;

impl<O: Observer> Run<'_, '_, O> {
    /// Runs an action; its data is in the state's parameters.
    #[inline]
    pub fn action(&mut self, action: u32, packet: &mut Packet) {
        let code = self.program.actions[action as usize].code.clone();
        self.instructions(code.start, code.end, packet);
    }

    pub fn instructions(&mut self, start: u32, end: u32, packet: &mut Packet) {
        let program = self.program;
        let code = &program.instructions[start as usize..end as usize];
        let (mut at, mut steps) = (0, 0);
        while let Some(&instruction) = code.get(at) {
            at += 1;
            steps += 1;
            match instruction {
                Instruction::Assign(to, expression) => {
                    let value = self.view(packet).computed(expression);
                    value.write(&mut packet.values, to);
                }
                Instruction::Jump(to) => at = to as usize,
                Instruction::JumpIfZero(condition, to) => {
                    if self.view(packet).index(condition) == 0 {
                        at = to as usize;
                    }
                }
                other => self.instruction(other, packet),
            }
            if packet.failed_assert.is_some() {
                return;
            }
            if steps == STEPS_MAX {
                packet.ran_too_long = true;
                return;
            }
        }
    }

    fn instruction(&mut self, instruction: Instruction, packet: &mut Packet) {
        match instruction {
            Instruction::AssignAt(place, field, expression) => {
                let value = self.view(packet).computed(expression);
                match self.header(place, packet) {
                    Some(header) => value.write(&mut packet.values, self.program.field_of(header, field)),
                    None => self.state.tally.out_of_bounds += 1,
                }
            }
            Instruction::Exit => packet.has_exited = true,
            Instruction::Assert(condition, message) => {
                if self.view(packet).index(condition) == 0 {
                    packet.failed_assert = Some(message);
                    self.state.tally.asserts_failed += 1;
                    self.see(Event::Assert(&self.program.messages[message as usize]));
                }
            }
            Instruction::Log(message, first, count) if O::WATCHES => {
                let values = self.program.lists[first as usize..(first + count) as usize].iter();
                let values: Vec<_> = values.map(|&value| self.view(packet).computed(value)).collect();
                let text = filled(&self.program.messages[message as usize], &values);
                self.outside.observer.see(self.program, Event::Log(&text));
            }
            // v1model.p4, `mark_to_drop`: it sets both fields, so a multicast of the same packet is dropped too.
            Instruction::MarkToDrop => {
                packet.set(self.program.standard.egress_spec, DROP_PORT);
                packet.set(self.program.standard.mcast_grp, 0);
            }
            Instruction::AssignVarbit(..)
            | Instruction::AssignHeader(..)
            | Instruction::AssignUnion(..)
            | Instruction::AssignStack(..)
            | Instruction::Validate(_)
            | Instruction::Invalidate(_)
            | Instruction::Push(..)
            | Instruction::Pop(..) => self.headers(instruction, packet),
            Instruction::Clone(..)
            | Instruction::Resubmit(_)
            | Instruction::Recirculate(_)
            | Instruction::Digest(_)
            | Instruction::Truncate(_) => self.request(instruction, packet),
            Instruction::Beyond(function, first, output) => self.beyond(function, first, output, packet),
            other => self.stateful(other, packet),
        }
    }

    fn headers(&mut self, instruction: Instruction, packet: &mut Packet) {
        let program = self.program;
        match instruction {
            Instruction::AssignVarbit(to, from) => {
                let headers = (&program.headers[to as usize], &program.headers[from as usize]);
                if let (Some(target), Some(source)) = (headers.0.varbit, headers.1.varbit) {
                    let count = packet.var_bits[from as usize].min(target.slot.width);
                    let bytes = count.div_ceil(8) as usize;
                    let start = source.slot.bit as usize / 8;
                    packet.values.copy_within(start..start + bytes, target.slot.bit as usize / 8);
                    packet.var_bits[to as usize] = count;
                }
            }
            Instruction::AssignHeader(to, from) => {
                if let (Some(to), Some(from)) = (self.header(to, packet), self.header(from, packet)) {
                    packet.assign_header(program, to, from);
                } else {
                    self.state.tally.out_of_bounds += 1;
                }
            }
            Instruction::AssignUnion(to, from) => packet.assign_union(program, to, from),
            Instruction::AssignStack(to, from) => packet.assign_stack(program, to, from),
            Instruction::Validate(place) => {
                let Some(header) = self.header(place, packet) else {
                    self.state.tally.out_of_bounds += 1;
                    return;
                };
                if !packet.valid[header as usize] {
                    packet.values[program.headers[header as usize].area()].fill(0);
                    packet.var_bits[header as usize] = 0;
                    packet.validate(program, header);
                    packet.length += packet.wire_bytes(program, header) as i64;
                }
            }
            Instruction::Invalidate(place) => {
                if let Some(header) = self.header(place, packet)
                    && packet.valid[header as usize]
                {
                    packet.length -= packet.wire_bytes(program, header) as i64;
                    packet.valid[header as usize] = false;
                }
            }
            Instruction::Push(stack, by) => {
                let by = usize::try_from(self.view(packet).index(by)).unwrap_or(usize::MAX);
                packet.push(program, stack, by);
            }
            Instruction::Pop(stack, by) => {
                let by = usize::try_from(self.view(packet).index(by)).unwrap_or(usize::MAX);
                packet.pop(program, stack, by);
            }
            _ => {}
        }
    }

    fn request(&mut self, instruction: Instruction, packet: &mut Packet) {
        let number = |run: &Self, expression| u32::try_from(run.view(packet).index(expression)).unwrap_or(u32::MAX);
        match instruction {
            Instruction::Clone(session, list) => {
                packet.requests.clone = Some((number(self, session), number(self, list)));
            }
            Instruction::Resubmit(list) => packet.requests.resubmit = Some(number(self, list)),
            Instruction::Recirculate(list) => packet.requests.recirculate = Some(number(self, list)),
            Instruction::Digest(list) => packet.requests.digest = Some(number(self, list)),
            Instruction::Truncate(length) => {
                packet.length_max = packet.length_max.min(number(self, length) as usize);
            }
            _ => {}
        }
    }

    fn stateful(&mut self, instruction: Instruction, packet: &mut Packet) {
        let mut is_within = true;
        match instruction {
            Instruction::Random(to, least, most) => {
                let (least, most) = (self.view(packet).index(least), self.view(packet).index(most));
                if least <= most {
                    let count = (most - least).saturating_add(1);
                    let drawn = self.outside.fabric.below(count);
                    let drawn = drawn.unwrap_or_else(|| crate::hash::random(&mut self.state.random) % count);
                    packet.set(Some(to), least + drawn);
                }
            }
            Instruction::Hash(to, base, calculation, size) => {
                let value = self.hash(calculation, packet);
                // v1model.p4, `hash`: with a size of 0 the result is the base, as with 1.
                let (base, size) = (self.view(packet).index(base), self.view(packet).index(size).max(1));
                Computed::Word(base.wrapping_add(value % size) as i64).write(&mut packet.values, to);
            }
            Instruction::Count(array, index) => {
                let index = self.view(packet).index(index);
                let counter = cell(&mut self.state.counters[array as usize], index);
                is_within = counter.is_some();
                counter.into_iter().for_each(|counter| counter.count(packet.whole_bytes()));
            }
            Instruction::Meter(array, index, to) => {
                let index = self.view(packet).index(index);
                let counts_bytes = self.program.meters[array as usize].counts_bytes;
                let tokens = if counts_bytes { packet.whole_bytes() as u64 } else { 1 };
                let meter = cell(&mut self.state.meters[array as usize], index);
                is_within = meter.is_some();
                if let Some(meter) = meter {
                    packet.set(Some(to), meter.execute(tokens, self.outside.now_ns));
                }
            }
            // v1model.p4 leaves an access beyond the array undefined. It is counted, and changes nothing.
            Instruction::RegisterRead(to, array, index) => {
                let index = self.view(packet).index(index);
                is_within = read_register(&self.state.registers[array as usize], index, &mut packet.values, to);
            }
            Instruction::RegisterWrite(array, index, value) => {
                let index = self.view(packet).index(index);
                let value = self.view(packet).computed(value);
                is_within = self.state.registers[array as usize].set(index, |word| value.word(word));
            }
            _ => {}
        }
        self.state.tally.out_of_bounds += u64::from(!is_within);
    }

    fn beyond(&mut self, function: Beyond, first: u32, output: u32, packet: &mut Packet) {
        let program = self.program;
        let (registers, parameters) = (&self.state.registers[..], &self.state.parameters[..]);
        let view = View { program, packet, registers, parameters };
        let argument = |place: u32| view.index(program.lists[(first + place) as usize]);
        let number = |place: u32| u32::try_from(argument(place)).unwrap_or(u32::MAX);
        let to = |place: u32| Some(program.outputs[(output + place) as usize]);
        let fabric = &mut *self.outside.fabric;
        let value = match function {
            Beyond::TimestampNs => self.outside.now_ns,
            Beyond::FlowHash => fabric.flow_hash().into(),
            Beyond::QueueDepth => fabric.queue_depth_bytes(number(0), number(1)),
            Beyond::QueueHasRoom => fabric.queue_has_room(number(0), number(1)).into(),
            Beyond::ClassQueue => fabric.class_queue(number(0)).into(),
            Beyond::RoutedPort => fabric.routed_port().into(),
            Beyond::CurrentRound => {
                let rounds = fabric.current_round(number(0));
                packet.set(to(1), rounds.first_queue.into());
                packet.set(to(2), rounds.queues.into());
                rounds.current
            }
            Beyond::PauseQueue => return fabric.pause_queue(number(0), number(1)),
            Beyond::ResumeQueue => return fabric.resume_queue(number(0), number(1)),
            Beyond::StartTimer => return fabric.start_timer(argument(0), number(1)),
            Beyond::SendToQueue => {
                let (port, queue) = (number(0), number(1));
                packet.set(program.standard.egress_spec, port.into());
                packet.requests.queue = Some((port, queue));
                return;
            }
            Beyond::DirectClone => {
                let to = (number(0), number(1));
                packet.requests.clone_to = Some(to);
                return;
            }
        };
        packet.set(to(0), value);
    }

    /// Stores the fields of a digest for the control plane.
    pub(crate) fn digest(&mut self, list: u32, packet: &Packet) {
        let Some(of) = self.program.digests.iter().find(|of| of.id == list) else { return };
        let mut values = vec![0; of.fields.iter().map(|slot| slot.width.div_ceil(8) as usize).sum()];
        let mut end = 0;
        for slot in &of.fields {
            end += 8 * slot.width.div_ceil(8);
            let (from, to) = (slot.bit as usize, (end - slot.width) as usize);
            bits::copy(&mut values, to, &packet.values, from, slot.width as usize);
        }
        self.state.keep_digest(Digest { list, values: values.into() });
    }
}

fn cell<T>(of: &mut [T], index: u64) -> Option<&mut T> {
    usize::try_from(index).ok().and_then(|index| of.get_mut(index))
}

#[inline]
fn read_register(array: &Registers, index: u64, values: &mut [u8], to: Slot) -> bool {
    let Some(cell) = array.cell(index) else { return false };
    if let &[word] = cell {
        // The value of a `Word` ends at 64 bits. Cells are unsigned, so the target's bits above are zeros.
        Computed::Word(word as i64)
            .write(values, Slot { width: to.width.min(64), bit: to.bit + to.width.saturating_sub(64), ..to });
        if to.width > 64 {
            bits::write(values, to.bit as usize, (to.width - 64) as usize, 0);
        }
    } else {
        Computed::Wide(crate::number::Number::from_words(cell)).write(values, to);
    }
    true
}

/// `format` with each pair of braces replaced by a value.
fn filled(format: &str, values: &[Computed]) -> String {
    let (mut text, mut rest, mut values) = (String::new(), format, values.iter());
    while let Some(open) = rest.find('{') {
        let Some(close) = rest[open..].find('}') else { break };
        text.push_str(&rest[..open]);
        match values.next() {
            Some(value) => {
                let (low, high) = (value.word(0), value.word(1));
                let _ = if high == 0 { write!(text, "{low}") } else { write!(text, "0x{high:x}{low:016x}") };
            }
            None => text.push_str("{}"),
        }
        rest = &rest[open + close + 1..];
    }
    text + rest
}
