//! Execution of controls (tables and conditions) and of checksums.

use crate::bits;
use crate::calculate::collect;
use crate::expression::View;
use crate::fabric::Fabric;
use crate::hash;
use crate::node::HeaderPlace;
use crate::number::{Number, Wide};
use crate::observer::{Event, Observer};
use crate::packet::Packet;
use crate::program::{Key, KeySource, Lookup, MatchKind, Next, Program, Step, Table, Target};
use crate::state::State;
use crate::tables::KEY_WORDS_MAX;

/// Maximum number of steps of a packet in one control or parser; beyond it, the program is in an endless loop.
pub const STEPS_MAX: u32 = 1 << 16;

pub struct Outside<'a, O> {
    pub now_ns: u64,
    pub fabric: &'a mut dyn Fabric,
    pub observer: &'a mut O,
}

/// A pass of a packet through a part of a program.
pub struct Run<'r, 'a, O> {
    pub program: &'r Program,
    pub state: &'r mut State,
    pub outside: &'r mut Outside<'a, O>,
}

impl<O: Observer> Run<'_, '_, O> {
    /// The data that expressions can read.
    #[inline]
    pub fn view<'v>(&'v self, packet: &'v Packet) -> View<'v> {
        View { program: self.program, packet, registers: &self.state.registers, parameters: &self.state.parameters }
    }

    #[inline]
    pub(crate) fn see(&mut self, event: Event<'_>) {
        if O::WATCHES {
            self.outside.observer.see(self.program, event);
        }
    }

    /// Runs a control from step `first` on.
    pub fn control(&mut self, first: Option<u32>, packet: &mut Packet) {
        let program = self.program;
        let mut step = first;
        let mut steps = 0;
        while let Some(number) = step {
            step = match program.steps[number as usize] {
                Step::Table(table) => self.table(&program.tables[table as usize], table, packet),
                Step::Condition(condition, yes, no, name) => {
                    let holds = self.view(packet).holds(condition);
                    self.see(Event::Condition(&program.messages[name as usize], holds));
                    if holds { yes } else { no }
                }
                Step::Call(action, next) => {
                    self.see(Event::Call(action));
                    self.state.parameters.clear();
                    self.action(action, packet);
                    next
                }
            };
            steps += 1;
            packet.ran_too_long |= steps == STEPS_MAX;
            if packet.has_exited || packet.ran_too_long || packet.failed_assert.is_some() {
                break;
            }
        }
        packet.has_exited = false;
    }

    #[inline]
    fn table(&mut self, table: &Table, number: u32, packet: &mut Packet) -> Option<u32> {
        if table.key_words <= 8 {
            self.look_up(table, number, packet, &mut [0; 8])
        } else {
            self.look_up(table, number, packet, &mut [0; KEY_WORDS_MAX])
        }
    }

    #[inline]
    fn look_up(&mut self, table: &Table, number: u32, packet: &mut Packet, room: &mut [u64]) -> Option<u32> {
        assert!(table.key_words as usize <= room.len(), "a key of a table has room");
        let key = &mut room[..table.key_words as usize];
        table.key.iter().for_each(|of| self.key_words(of, packet, key));
        let found = self.state.tables[number as usize].find(table, key);
        if let Some(place) = found {
            self.count_entry(table, number, place, packet);
        } else {
            self.state.tables[number as usize].misses += 1;
        }
        let action = self.choose(table, number, found, packet);
        if O::WATCHES {
            let handle = found.map(|place| self.state.tables[number as usize].entries[place].handle);
            let call = action.map(|action| (action, &self.state.parameters[..]));
            self.outside.observer.see(self.program, Event::Lookup { table: number, key, entry: handle, call });
        }
        if let Some(action) = action {
            self.action(action, packet);
        }
        match &table.next {
            &Next::ByHit(hit, miss) => found.map_or(miss, |_| hit),
            Next::ByAction(next, none) => {
                let place = action.and_then(|action| table.actions.iter().position(|&of| of == action));
                place.map_or(*none, |place| next[place])
            }
        }
    }

    /// Selects the action to run, and copies its data to the state's parameters.
    #[inline]
    fn choose(&mut self, table: &Table, number: u32, found: Option<usize>, packet: &Packet) -> Option<u32> {
        let rows = &self.state.tables[number as usize];
        let target = match found {
            Some(place) => &rows.entries[place].entry.target,
            None => match (&rows.default_target, &rows.default) {
                (Some(target), _) => target,
                (None, Some(call)) => {
                    self.state.parameters.clear();
                    self.state.parameters.extend_from_slice(&call.data);
                    return Some(call.action);
                }
                (None, None) => return None,
            },
        };
        let member = match *target {
            Target::Call(ref call) => {
                self.state.parameters.clear();
                self.state.parameters.extend_from_slice(&call.data);
                return Some(call.action);
            }
            Target::Member(member) => member,
            Target::Group(group) => self.member_of(table, group, packet)?,
        };
        let profile = &self.state.profiles[table.profile? as usize];
        let call = profile.members.get(member as usize)?.as_ref()?;
        self.state.parameters.clear();
        self.state.parameters.extend_from_slice(&call.data);
        Some(call.action)
    }

    fn member_of(&mut self, table: &Table, group: u32, packet: &Packet) -> Option<u32> {
        let profile = table.profile?;
        let value = match self.program.profiles[profile as usize].selector {
            Some(selector) => self.hash(selector, packet),
            None => 0,
        };
        let members = self.state.profiles[profile as usize].groups.get(group as usize)?.as_ref()?;
        members.get(value.checked_rem(members.len() as u64)? as usize).copied()
    }

    fn count_entry(&mut self, table: &Table, number: u32, place: usize, packet: &mut Packet) {
        let row = &mut self.state.tables[number as usize].entries[place];
        if table.has_counters {
            row.counter.count(packet.whole_bytes());
        }
        if let Some(meter) = table.meter {
            let array = &self.program.meters[meter as usize];
            let tokens = if array.counts_bytes { packet.whole_bytes() as u64 } else { 1 };
            let colour = row.meter.execute(tokens, self.outside.now_ns);
            packet.set(array.target, colour);
        }
    }

    #[inline]
    fn key_words(&self, of: &Key, packet: &Packet, key: &mut [u64]) {
        let word = of.word as usize;
        match of.source {
            KeySource::Field(slot) if slot.width <= 64 => {
                key[word] = bits::read(&packet.values, slot.bit as usize, slot.width as usize);
            }
            KeySource::Field(slot) => self.wide_key(of, packet, slot, key),
            KeySource::Valid(header) => key[word] = u64::from(packet.valid[header as usize]),
            KeySource::ValidUnion(union) => {
                let members = &self.program.unions[union as usize].headers;
                key[word] = u64::from(members.iter().any(|&header| packet.valid[header as usize]));
            }
            KeySource::At(place, field) => {
                if let Some(header) = self.view(packet).header(place) {
                    self.wide_key(of, packet, self.program.field_of(header, field), key);
                }
            }
        }
        if let Some(mask) = &of.mask {
            key[word..].iter_mut().zip(mask).for_each(|(word, mask)| *word &= mask);
        }
    }

    fn wide_key(&self, of: &Key, packet: &Packet, slot: bits::Slot, key: &mut [u64]) {
        let value = Wide::read(&packet.values, bits::Slot { is_signed: false, ..slot });
        let word = of.word as usize;
        key[word..word + of.words()].copy_from_slice(&value.as_bits().digits()[..of.words()]);
    }

    /// The result of a calculation for `packet`.
    pub fn hash(&mut self, calculation: u32, packet: &Packet) -> u64 {
        let of = &self.program.calculations[calculation as usize];
        collect(self.program, packet, of, &mut self.state.buffer);
        hash::hash(of.algorithm, &self.state.buffer, &mut self.state.random)
    }

    pub fn verify_checksums(&mut self, packet: &mut Packet) {
        let program = self.program;
        for (number, checksum) in program.checksums.iter().enumerate() {
            let is_meant = checksum.is_verified
                && packet.valid[checksum.header as usize]
                && checksum.condition.is_none_or(|condition| self.view(packet).holds(condition));
            if !is_meant {
                continue;
            }
            let value = self.hash(checksum.calculation, packet);
            let width = checksum.target.width.min(64);
            if packet.get(Some(checksum.target)) != value || width == 0 {
                packet.has_checksum_error = true;
                self.see(Event::BadChecksum(number as u32, value));
            }
        }
    }

    pub fn update_checksums(&mut self, packet: &mut Packet) {
        let program = self.program;
        for (number, checksum) in program.checksums.iter().enumerate() {
            let holds = checksum.condition.is_none_or(|condition| self.view(packet).holds(condition));
            if checksum.is_updated && holds {
                let value = self.hash(checksum.calculation, packet);
                packet.set(Some(checksum.target), value);
                self.see(Event::Updated(number as u32, value));
            }
        }
    }

    #[inline]
    pub(crate) fn header(&self, place: HeaderPlace, packet: &Packet) -> Option<u32> {
        self.view(packet).header(place)
    }
}

/// Whether the entries of a table need priorities.
pub fn needs_priority(table: &Table) -> bool {
    table.lookup == Lookup::Priority
        && table.key.iter().any(|key| matches!(key.kind, MatchKind::Ternary | MatchKind::Range))
}
