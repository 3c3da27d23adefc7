//! Writes to counters, meters, registers and value sets.

use super::fields::{matches, number};
use super::{Change, Write, modify_only, unsupported};
use crate::entries::Match;
use crate::error::{Error, Result, refuse};
use crate::meter::Counter;
use crate::meter::{Meter, Rate};
use crate::number::{Number, Wide, wide};
use crate::p4runtime::info::{Cell, ValueSetInfo};
use crate::p4runtime::schema::{At, Message};
use crate::program::ValueSet;
use crate::values::member_key;

fn counter(data: Message<'_>) -> Result<Counter> {
    let part = |name: &str| {
        let value = data.signed(name);
        u64::try_from(value).map_err(|_| Error::new(format!("{name} is {value}, and no counter is below 0")))
    };
    Ok(Counter { packets: part("packet_count")?, bytes: part("byte_count")? })
}

/// The cells that an entry addresses: one cell, or without an index all `size` of them.
fn cells(of: Message<'_>, array: &str, size: usize) -> Result<std::ops::Range<usize>> {
    let Some(index) = of.message("index") else { return Ok(0..size) };
    let index = index.signed("index");
    match usize::try_from(index).ok().filter(|&index| index < size) {
        Some(index) => Ok(index..index + 1),
        None => refuse!("{array} has the cells 0 to {}, and the index is {index}", size.saturating_sub(1)),
    }
}

/// Parses an `int<W>`; bytes beyond its width must repeat the sign (P4Runtime, section "Bytestrings").
fn signed(bytes: &[u8], width: u32, what: &str) -> Result<Wide> {
    let Some(&first) = bytes.first() else { return number(bytes, width, what) };
    let (is_negative, fill) = if first & 0x80 == 0 { (false, 0) } else { (true, 0xff) };
    let short: Vec<_> = bytes.iter().copied().skip_while(|&byte| byte == fill).collect();
    let value = wide(&short);
    // Two's complement of the remaining bytes: subtract their modulus.
    let value = if is_negative { value - Wide::ONE.left(8 * short.len() as u64) } else { value };
    if 8 * short.len() as u32 > width + 8 || value.wrap(u64::from(width)) != value {
        refuse!("the value of {what} has more bits than int<{width}>");
    }
    Ok(value)
}

impl Write<'_> {
    /// The rates of a meter; `None` makes all packets green.
    fn rates(&self, meter: u32, config: Option<Message<'_>>) -> Result<Option<Vec<Rate>>> {
        let Some(config) = config else { return Ok(None) };
        let known = &self.commands.program.meters[meter as usize];
        unsupported(config, &["eburst"], "meters have two rates of their own (RFC 2698)")?;
        let part = |name: &str| {
            let value = config.signed(name);
            u64::try_from(value).map_err(|_| Error::new(format!("{}: {name} is {value}, below 0", known.name)))
        };
        let (cir, pir) = (part("cir")?, part("pir")?);
        let (committed, peak) = (part("cburst")?, part("pburst")?);
        let rate = |per_s: u64, burst| Rate { per_us: per_s as f64 / 1e6, burst };
        let rates = match known.rates {
            1 if (cir, committed) == (pir, peak) => vec![rate(cir, committed)],
            1 => refuse!("{} has one rate: pir and pburst must be as cir and cburst", known.name),
            _ => vec![rate(cir, committed), rate(pir, peak)],
        };
        self.commands.check_rates(meter as usize, &rates)?;
        Ok(Some(rates))
    }

    pub(super) fn set_direct_meter(
        &mut self,
        table: u32,
        handle: u32,
        meter: u32,
        config: Option<Message<'_>>,
    ) -> Result<()> {
        let (rates, now_ns) = (self.rates(meter, config)?, self.commands.now_ns);
        if let Some(row) = self.commands.state.tables[table as usize].row(handle) {
            set(&mut row.meter, rates.as_deref(), now_ns);
        }
        Ok(())
    }

    pub(super) fn set_direct_counter(&mut self, table: u32, handle: u32, data: Message<'_>) -> Result<()> {
        let counted = counter(data)?;
        if let Some(row) = self.commands.state.tables[table as usize].row(handle) {
            row.counter = counted;
        }
        Ok(())
    }

    pub(super) fn meter(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        modify_only(change, "a meter")?;
        let id = of.id("meter_id");
        let Some(&array) = self.info.meters.get(&id) else {
            refuse!("the meter_id is {}, which is no meter array", self.info.describe(id));
        };
        unsupported(of, &["counter_data"], "meters do not count by colour")?;
        let cells = cells(of, &self.commands.program.meters[array].name, self.commands.state.meters[array].len())?;
        let (rates, now_ns) = (self.rates(array as u32, of.message("config"))?, self.commands.now_ns);
        for meter in &mut self.commands.state.meters[array][cells] {
            set(meter, rates.as_deref(), now_ns);
        }
        Ok(())
    }

    /// Table and handle of the entry that a direct counter or meter belongs to.
    fn row(&self, of: Message<'_>, thing: &str) -> Result<(u32, u32)> {
        let Some(entry) = of.message("table_entry") else { refuse!("it has no table_entry") };
        let found = || {
            if entry.flag("is_default_action") {
                refuse!("misses have no counter or meter of their own");
            }
            let (info, table) = self.table(entry)?;
            match self.key(entry, info, table).in_line(entry, &format!("table {}", info.name))? {
                (_, Some(handle)) => Ok((info.table, handle)),
                (_, None) => refuse!("{} has no entry with this match and priority", info.name),
            }
        };
        found().in_line(entry, thing)
    }

    pub(super) fn direct_meter(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        modify_only(change, "a meter")?;
        unsupported(of, &["counter_data"], "meters do not count by colour")?;
        let (table, handle) = self.row(of, "DirectMeterEntry")?;
        let known = &self.commands.program.tables[table as usize];
        let Some(meter) = known.meter else { refuse!("{} has no direct meter", known.name) };
        self.set_direct_meter(table, handle, meter, of.message("config"))
    }

    pub(super) fn counter(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        modify_only(change, "a counter")?;
        let id = of.id("counter_id");
        let Some(&array) = self.info.counters.get(&id) else {
            refuse!("the counter_id is {}, which is no counter array", self.info.describe(id));
        };
        let counters = &mut self.commands.state.counters[array];
        let cells = cells(of, &self.commands.program.counters[array].name, counters.len())?;
        if let Some(data) = of.message("data") {
            counters[cells].fill(counter(data)?);
        }
        Ok(())
    }

    pub(super) fn direct_counter(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        let thing = "DirectCounterEntry";
        modify_only(change, "a counter")?;
        let (table, handle) = self.row(of, thing)?;
        let known = &self.commands.program.tables[table as usize];
        if !known.has_counters {
            refuse!("{} has no direct counter", known.name);
        }
        if let Some(data) = of.message("data") {
            self.set_direct_counter(table, handle, data).in_line(data, thing)?;
        }
        Ok(())
    }

    pub(super) fn register(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        modify_only(change, "a register")?;
        let id = of.id("register_id");
        let Some(info) = self.info.registers.get(&id) else {
            refuse!("the register_id is {}, which is no register array", self.info.describe(id));
        };
        let known = &self.commands.program.registers[info.register];
        let Some(data) = of.message("data") else { refuse!("{}: there is no data to write", known.name) };
        let what = format!("a cell of {}", known.name);
        let value = match (data.chosen("data"), info.cell) {
            (Some("bitstring"), Some(Cell::Bit(width))) => number(data.bytes("bitstring"), width, &what)?,
            (Some("bitstring"), Some(Cell::Int(width))) => signed(data.bytes("bitstring"), width, &what)?,
            (Some("bool"), Some(Cell::Bool)) => Wide::small(u64::from(data.flag("bool"))),
            (None, _) => refuse!("{}: the data is empty", known.name),
            (Some(kind), Some(cell)) => refuse!("{what} is {cell:?}, and the data {kind}"),
            (Some(kind), None) => refuse!("{what} is neither bit<W> nor int<W> nor bool; {kind} is not supported"),
        };
        let register = &mut self.commands.state.registers[info.register];
        for index in cells(of, &known.name, known.size as usize)? {
            register.set(index as u64, |word| value.word(word));
        }
        Ok(())
    }

    /// Replaces all members of a value set.
    pub(super) fn value_set(&mut self, change: Change, of: Message<'_>) -> Result<()> {
        modify_only(change, "a value set")?;
        let id = of.id("value_set_id");
        let Some(info) = self.info.value_sets.get(&id) else {
            refuse!("the value_set_id is {}, which is no value set", self.info.describe(id));
        };
        let members = self.members(of, info);
        let thing = format!("value set {}", self.commands.program.value_sets[info.set].name);
        self.commands.state.value_sets[info.set] = members.in_line(of, &thing)?;
        Ok(())
    }

    fn members(&self, of: Message<'_>, info: &ValueSetInfo) -> Result<Vec<Box<[u8]>>> {
        let known = &self.commands.program.value_sets[info.set];
        let thing = format!("value set {}", known.name);
        let width: u32 = info.fields.iter().map(|field| field.width).sum();
        if width != known.width {
            refuse!("its members have {width} bits by the p4info, and {} in the program", known.width);
        }
        let mut members = Vec::new();
        for given in of.messages("members") {
            let key = member(&thing, known, info, given).in_line(given, &thing)?;
            if members.contains(&key) {
                return Err(Error::new("a member is there twice")).in_line(given, &thing);
            }
            members.push(key);
        }
        if info.size > 0 && members.len() as i64 > info.size {
            refuse!("it has room for {} members, and {} are given", info.size, members.len());
        }
        Ok(members)
    }
}

fn member(thing: &str, known: &ValueSet, info: &ValueSetInfo, given: Message<'_>) -> Result<Box<[u8]>> {
    let mut value = Wide::ZERO;
    for (field, given) in info.fields.iter().zip(matches(thing, &info.fields, given)?) {
        let Match::Exact(part) = given else {
            refuse!("the field {} is matched {}, which is not supported", field.name, field.kind);
        };
        value = value.left(u64::from(field.width)) | part;
    }
    Ok(member_key(known, &value))
}

fn set(meter: &mut Meter, rates: Option<&[Rate]>, now_ns: u64) {
    match rates {
        Some(rates) => meter.set_rates(rates, now_ns),
        None => *meter = Meter::default(),
    }
}
