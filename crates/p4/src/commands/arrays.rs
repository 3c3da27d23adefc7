//! Commands for registers, counters, meters and value sets.

use super::{Commands, argument, named, number, small};
use crate::error::{Error, Result, refuse};
use crate::meter::Counter;
use crate::meter::{Meter, Rate};
use crate::number::Number;
use crate::values::member_key;

impl Commands<'_> {
    pub(super) fn register(&self, of: &[&str]) -> Result<usize> {
        named(&self.program.registers, "register array", of)
    }

    pub(super) fn register_read(&mut self, of: &[&str]) -> Result<String> {
        let array = self.register(of)?;
        let state = &self.state.registers[array];
        let text = |words: &[u64]| match words {
            [word] => word.to_string(),
            words => words.iter().rev().fold("0x".to_string(), |text, word| format!("{text}{word:016x}")),
        };
        let name = &self.program.registers[array].name;
        match of.get(1) {
            Some(index) => match state.cell(small(index)?) {
                Some(words) => Ok(format!("{name}[{index}] = {}", text(words))),
                None => refuse!("{name} has no cell {index}"),
            },
            None => {
                let cells: Vec<_> = state.words.chunks(state.cell_words).map(text).collect();
                Ok(format!("{name} = {}", cells.join(", ")))
            }
        }
    }

    pub(super) fn register_write(&mut self, of: &[&str]) -> Result<()> {
        let array = self.register(of)?;
        let known = &self.program.registers[array];
        let value = number(argument(of, 2)?, known.width)?;
        if value.bits() > known.width {
            refuse!("{} has cells of {} bits, and the value {}", known.name, known.width, value.bits());
        }
        let index = small(argument(of, 1)?)?;
        if !self.state.registers[array].set(index, |word| value.word(word)) {
            refuse!("{} has no cell {index}", known.name);
        }
        Ok(())
    }

    /// The counter of an array or of a table entry.
    fn counter(&mut self, of: &[&str]) -> Result<&mut Counter> {
        let (_, index) = (argument(of, 0)?, small(argument(of, 1)?)?);
        let array = named(&self.program.counters, "counter array", of)?;
        let name = &self.program.counters[array].name;
        let found = self.state.counter(self.program, array, index);
        found.ok_or_else(|| Error::new(format!("{name} has no counter {index}")))
    }

    pub(super) fn counter_read(&mut self, of: &[&str]) -> Result<String> {
        let Counter { packets, bytes } = *self.counter(of)?;
        Ok(format!("{}[{}] = {packets} packets, {bytes} bytes", argument(of, 0)?, argument(of, 1)?))
    }

    pub(super) fn counter_write(&mut self, of: &[&str]) -> Result<()> {
        let (packets, bytes) = (small(argument(of, 2)?)?, small(argument(of, 3)?)?);
        *self.counter(of)? = Counter { packets, bytes };
        Ok(())
    }

    pub(super) fn counter_reset(&mut self, of: &[&str]) -> Result<()> {
        let array = named(&self.program.counters, "counter array", of)?;
        let table = self.program.counters[array].table.as_ref().and_then(|table| self.program.table(table));
        match table {
            Some(table) => {
                self.state.tables[table as usize].entries.iter_mut().for_each(|row| row.counter = Counter::default());
            }
            None => self.state.counters[array].fill(Counter::default()),
        }
        Ok(())
    }

    fn meter(&self, of: &[&str]) -> Result<usize> {
        named(&self.program.meters, "meter array", of)
    }

    fn rates(&self, array: usize, of: &[&str]) -> Result<Vec<Rate>> {
        let rate = |word: &&str| {
            let (rate, burst) = word.split_once(':')?;
            let per_us = rate.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate >= 0.0)?;
            Some(Rate { per_us, burst: burst.parse().ok()? })
        };
        let known = &self.program.meters[array];
        let rates: Option<Vec<_>> = of.iter().map(rate).collect();
        match rates.filter(|rates| rates.len() == known.rates as usize) {
            Some(rates) => self.check_rates(array, &rates).map(|()| rates),
            None => refuse!(
                "{} needs {} rates, each as 0.5:1500: {} a microsecond, and a burst",
                known.name,
                known.rates,
                if known.counts_bytes { "bytes" } else { "packets" }
            ),
        }
    }

    fn one_meter(&mut self, array: usize, index: &str) -> Result<&mut Meter> {
        let (place, known) = (small(index)?, &self.program.meters[array]);
        let found = if known.is_direct {
            let table = self.program.tables.iter().position(|table| table.meter == Some(array as u32));
            let handle = u32::try_from(place).ok();
            table.zip(handle).and_then(|(table, handle)| self.state.tables[table].row(handle)).map(|row| &mut row.meter)
        } else {
            self.state.meters[array].get_mut(place as usize)
        };
        found.ok_or_else(|| Error::new(format!("{} has no meter {index}", known.name)))
    }

    pub(super) fn meter_set_rates(&mut self, of: &[&str]) -> Result<()> {
        let array = self.meter(of)?;
        let rates = self.rates(array, of.get(2..).unwrap_or_default())?;
        let now_ns = self.now_ns;
        self.one_meter(array, argument(of, 1)?)?.set_rates(&rates, now_ns);
        Ok(())
    }

    pub(super) fn meter_array_set_rates(&mut self, of: &[&str]) -> Result<()> {
        let array = self.meter(of)?;
        let rates = self.rates(array, of.get(1..).unwrap_or_default())?;
        let known = &self.program.meters[array];
        if known.is_direct {
            refuse!("{} has a meter for each entry of a table: meter_set_rates sets one of them", known.name);
        }
        for meter in &mut self.state.meters[array] {
            meter.set_rates(&rates, self.now_ns);
        }
        Ok(())
    }

    pub(super) fn meter_get_rates(&mut self, of: &[&str]) -> Result<String> {
        let array = self.meter(of)?;
        let rates = self.one_meter(array, argument(of, 1)?)?.rates();
        let rates: Vec<_> = rates.iter().map(|rate| format!("{}:{}", rate.per_us, rate.burst)).collect();
        Ok(format!("{}[{}] = {}", argument(of, 0)?, argument(of, 1)?, rates.join(" ")))
    }

    /// The number of a value set, and a value in the form of the set's keys.
    pub(super) fn member(&self, of: &[&str]) -> Result<(usize, Option<Box<[u8]>>)> {
        let set = named(&self.program.value_sets, "value set", of)?;
        let known = &self.program.value_sets[set];
        let Some(text) = of.get(1) else { return Ok((set, None)) };
        let value = number(text, known.width)?;
        if value.bits() > known.width {
            refuse!("{} has values of {} bits, and {text} has {}", known.name, known.width, value.bits());
        }
        Ok((set, Some(member_key(known, &value))))
    }

    pub(super) fn value_set_add(&mut self, of: &[&str]) -> Result<()> {
        let (set, key) = self.member(of)?;
        let key = key.ok_or_else(|| Error::new("pvs_add lacks the value"))?;
        let members = &mut self.state.value_sets[set];
        if !members.contains(&key) {
            members.push(key);
        }
        Ok(())
    }
}
