//! Minimises a failing world: drops parts as long as the same fault is found.

use hitless_scenario::kind::Registry;
use toml::{Table, Value};

use crate::judge::Fault;
use crate::run::{self, Until};
use crate::world::World;

/// Lists with entries that can be dropped one by one, largest parts first.
const LISTS: [&str; 5] = ["mechanism", "failure", "link", "flows", "transport"];
/// Tables that can be dropped, or else their settings one by one.
const SECTIONS: [&str; 5] = ["recovery", "host", "routing", "switch", "topology"];
/// Maximum number of runs for one world.
const RUNS_MAX: u32 = 600;

/// Returns the smallest world found that still has `fault`.
pub fn shrink(world: &World, fault: &Fault, registry: &Registry, until: Until) -> World {
    let mut smallest = world.clone();
    let mut runs = 0;
    loop {
        let mut has_shrunk = false;
        let mut place = 0;
        // A success changes the list of candidates. The search continues from the position of the last success.
        while let Some(candidate) = candidates(&smallest).into_iter().nth(place) {
            if runs >= RUNS_MAX || until.has_come() {
                return smallest;
            }
            runs += 1;
            let verdict = run::run(&candidate, registry);
            if verdict.is_ok_and(|it| it.faults.iter().any(|found| found.signature() == fault.signature())) {
                smallest = candidate;
                has_shrunk = true;
            } else {
                place += 1;
            }
        }
        if !has_shrunk {
            return smallest;
        }
    }
}

/// Returns worlds with one part fewer; the smallest worlds come first.
fn candidates(world: &World) -> Vec<World> {
    let table = &world.table;
    let without_some = LISTS.iter().flat_map(|list| without_entries(table, list));
    let without_all = SECTIONS.iter().filter_map(|section| without_key(table, section));
    let sections = SECTIONS.iter().flat_map(|section| changed_table(table, section));
    let entries = LISTS.iter().flat_map(|list| changed_entries(table, list));
    without_some.chain(without_all).chain(sections).chain(entries).map(World::new).collect()
}

/// Settings that bound a group of flows: without them the world grows to its whole duration.
const BOUNDS: [&str; 2] = ["stop", "count"];

fn without_key(table: &Table, key: &str) -> Option<Table> {
    let mut smaller = table.clone();
    smaller.remove(key).map(|_| smaller)
}

fn without_entries(table: &Table, list: &str) -> Vec<Table> {
    let count = table.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    let without = |number: usize| {
        let mut smaller = table.clone();
        let entries = smaller.get_mut(list)?.as_array_mut()?;
        drop(entries.remove(number));
        if entries.is_empty() {
            smaller.remove(list);
        }
        Some(smaller)
    };
    (0..count).rev().filter_map(without).collect()
}

fn changed_entries(table: &Table, list: &str) -> Vec<Table> {
    let entries = table.get(list).and_then(Value::as_array).cloned().unwrap_or_default();
    let mut smaller = Vec::new();
    for (number, entry) in entries.iter().enumerate() {
        for changed in simpler(entry) {
            let mut whole = table.clone();
            whole.get_mut(list).and_then(Value::as_array_mut).into_iter().for_each(|all| all[number] = changed.clone());
            smaller.push(whole);
        }
    }
    smaller
}

fn changed_table(table: &Table, section: &str) -> Vec<Table> {
    let Some(old) = table.get(section) else { return Vec::new() };
    let put = |new: Value| {
        let mut whole = table.clone();
        whole.insert(section.to_owned(), new);
        whole
    };
    simpler(old).into_iter().map(put).collect()
}

/// Returns simpler values: without a setting, without an entry of a list, or with a number halved.
fn simpler(value: &Value) -> Vec<Value> {
    match value {
        Value::Table(table) => {
            let without =
                table.keys().filter(|key| !BOUNDS.contains(&key.as_str())).filter_map(|key| without_key(table, key));
            let without = without.map(Value::Table);
            let inner = table.iter().flat_map(|(key, old)| simpler(old).into_iter().map(move |new| (key.clone(), new)));
            let inner = inner.map(|(key, new)| {
                let mut changed = table.clone();
                changed.insert(key, new);
                Value::Table(changed)
            });
            without.chain(inner).collect()
        }
        Value::Array(entries) => {
            let without = |first: usize, end: usize| Value::Array([&entries[..first], &entries[end..]].concat());
            // In a sequence of events, drop two that belong together: down and up again.
            let pairs = (0..entries.len() / 2).map(|pair| without(2 * pair, 2 * pair + 2));
            pairs.chain((0..entries.len()).rev().map(|number| without(number, number + 1))).collect()
        }
        Value::Integer(number) if *number > 1 => vec![Value::Integer(1), Value::Integer(number / 2)],
        Value::String(text) => halved(text).map(Value::String).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// Halves a quantity: "300 us" becomes "150 us". Rates are unchanged, because flows on slower links take longer than a
/// world.
fn halved(text: &str) -> Option<String> {
    let (number, unit) = text.split_once(' ').filter(|(_, unit)| !unit.ends_with("bps"))?;
    let number: u64 = number.parse().ok()?;
    (number > 1).then(|| format!("{} {unit}", number / 2))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candidates_drop_parts_and_halve_quantities() {
        let table: Table = "a = 4\n[[mechanism]]\nkind = \"x\"\nafter = \"10 us\"\n[[mechanism]]\nkind = \"y\"\n\
                            [switch]\npreset = \"ideal\""
            .parse()
            .expect("this is TOML");
        let texts: Vec<String> = candidates(&World::new(table)).iter().map(World::text).collect();
        assert!(texts.iter().any(|text| !text.contains("\"x\"") && text.contains("\"y\"")));
        assert!(texts.iter().any(|text| text.contains("5 us")));
        assert!(texts.iter().any(|text| !text.contains("switch")));
    }
}
