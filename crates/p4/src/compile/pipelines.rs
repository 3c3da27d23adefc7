//! Compiles tables and conditions, and the order of their steps.

use std::collections::BTreeMap;

use serde_json::Value;

use super::expressions::Operand;
use super::{Compiler, number_of};
use crate::entries::{Match, call, entry};
use crate::error::{Error, Result, refuse};
use crate::json::{self, Conditional, DefaultEntry, MatchValue, Pipeline, hex_bytes, place};
use crate::node::Node;
use crate::number::Wide;
use crate::program::{Beyond, Call, Entry, Key, KeySource, Lookup, MatchKind, Next, Profile, Step, Table, Target};
use crate::tables::KEY_WORDS_MAX;

/// Refuses functions that egress cannot use: the routed port, whether a queue has room for the packet, and the round in
/// which it would get one.
fn refuse_functions_of_ingress(actions: &[json::Action], egress: &Pipeline) -> Result<()> {
    let of_tables = egress.tables.iter().flat_map(|table| table.action_ids.iter().copied());
    let called = of_tables.chain(egress.action_calls.iter().map(|call| call.action_id)).collect::<Vec<_>>();
    for action in actions.iter().filter(|action| called.contains(&action.id)) {
        let is_of_ingress = |name| Beyond::of(name).is_some_and(|(function, _)| function.is_of_ingress());
        if let Some(primitive) = action.primitives.iter().find(|primitive| is_of_ingress(&primitive.op)) {
            let (name, op) = (&action.name, &primitive.op);
            let error = Error::new(format!("action {name}: {op} is a function of ingress, and is called in egress"));
            return Err(error.at(place(&primitive.source_info)));
        }
    }
    Ok(())
}

impl Compiler<'_> {
    pub(super) fn pipelines(&mut self) -> Result<()> {
        let document = self.document;
        for pipeline in &document.pipelines {
            let first = self.pipeline(pipeline)?;
            match pipeline.name.as_str() {
                "ingress" => self.program.ingress = first,
                "egress" => {
                    refuse_functions_of_ingress(&document.actions, pipeline)?;
                    self.program.egress = first;
                }
                other => refuse!("the pipeline \"{other}\" is not one of v1model, which are ingress and egress"),
            }
        }
        Ok(())
    }

    /// Compiles the steps of a control and returns the first.
    fn pipeline(&mut self, of: &Pipeline) -> Result<Option<u32>> {
        let mut profiles = BTreeMap::new();
        for profile in &of.action_profiles {
            let selector = match &profile.selector {
                Some(selector) => {
                    let made = self.calculation(&profile.name, &selector.algo, &selector.input)?;
                    self.program.calculations.push(made);
                    Some(self.program.calculations.len() as u32 - 1)
                }
                None => None,
            };
            profiles.insert(profile.name.as_str(), self.program.profiles.len() as u32);
            self.program.profiles.push(Profile { name: profile.name.clone(), selector });
        }
        let names = of.tables.iter().map(|table| table.name.as_str());
        let names = names.chain(of.conditionals.iter().map(|condition| condition.name.as_str()));
        let names = names.chain(of.action_calls.iter().map(|call| call.name.as_str()));
        let first = self.program.steps.len() as u32;
        let steps: BTreeMap<_, _> = names.zip(first..).collect();
        for table in &of.tables {
            let made = self.table(table, &steps, &profiles);
            let made = made.map_err(|error| error.within("table", &table.name, place(&table.source_info)))?;
            self.program.steps.push(Step::Table(self.program.tables.len() as u32));
            self.program.tables.push(made);
        }
        for condition in &of.conditionals {
            let step = self.conditional(condition, &steps);
            let step = step.map_err(|error| error.at(place(&condition.source_info)))?;
            self.program.steps.push(step);
        }
        for call in &of.action_calls {
            let action = self.action_id(call.action_id)?;
            let next = following(&steps, call.next_node.as_deref())?;
            self.program.steps.push(Step::Call(action, next));
        }
        following(&steps, of.init_table.as_deref())
    }

    fn conditional(&mut self, of: &Conditional, steps: &BTreeMap<&str, u32>) -> Result<Step> {
        let condition = self.condition(&of.expression)?;
        let name = place(&of.source_info).unwrap_or_else(|| of.name.clone());
        let name = self.message(&name);
        let yes = following(steps, of.true_next.as_deref())?;
        let no = following(steps, of.false_next.as_deref())?;
        Ok(Step::Condition(condition, yes, no, name))
    }

    fn action_id(&self, id: i64) -> Result<u32> {
        match self.action_ids.get(&id) {
            Some(&action) => Ok(action),
            None => refuse!("the document has no action with id {id}"),
        }
    }

    fn table(
        &mut self,
        of: &json::Table,
        steps: &BTreeMap<&str, u32>,
        profiles: &BTreeMap<&str, u32>,
    ) -> Result<Table> {
        let actions: Result<Vec<_>> = of.action_ids.iter().map(|&id| self.action_id(id)).collect();
        let actions = actions?;
        let profile = match (of.kind.as_str(), &of.action_profile) {
            ("simple", _) => None,
            ("indirect" | "indirect_ws", Some(name)) => Some(number_of(profiles, "action profile", name)?),
            (kind, _) => refuse!("a table of type \"{kind}\" is not supported"),
        };
        let meter = of.direct_meters.as_ref().map(|name| number_of(&self.program.meters, "meter array", name));
        let meter = meter.transpose()?;
        let (key, lookup) = self.key(of)?;
        let default = of.default_entry.as_ref();
        let mut table = Table {
            name: of.name.clone(),
            key_words: key.iter().map(|key| key.words() as u32).sum(),
            key,
            lookup,
            next: self.next(of, &actions, steps)?,
            actions,
            profile,
            size: of.max_size.unwrap_or(1024),
            has_counters: of.with_counters,
            meter,
            default: default.map(|default| self.call(default)).transpose()?,
            is_default_constant: default.is_some_and(|default| default.action_const || default.action_entry_const),
            entries: Vec::new(),
        };
        for given in &of.entries {
            let made = self.entry(&table, given);
            table.entries.push(made.map_err(|error| error.at(place(&given.source_info)))?);
        }
        Ok(table)
    }

    fn key(&mut self, of: &json::Table) -> Result<(Vec<Key>, Lookup)> {
        let (mut fields, mut words, mut longest) = (Vec::new(), 0, None);
        for (number, given) in of.key.iter().enumerate() {
            let (source, width) = self.key_source(given)?;
            let kind = match given.match_type.as_str() {
                "exact" | "valid" => MatchKind::Exact,
                "lpm" => MatchKind::Longest,
                "ternary" | "optional" => MatchKind::Ternary,
                "range" => MatchKind::Range,
                other => refuse!("the match kind \"{other}\" is not supported"),
            };
            if kind == MatchKind::Longest && longest.replace(number as u32).is_some() {
                refuse!("a key may have one field of kind lpm");
            }
            let name = given.name.clone().unwrap_or_else(|| match &given.target {
                Value::Array(names) => {
                    let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
                    names.join(".")
                }
                other => other.as_str().unwrap_or_default().to_string(),
            });
            let mut key = Key { name, source, width, kind, word: words, mask: None };
            if let Some(mask) = &given.mask {
                key.mask = Some(wide(mask)?.as_bits().digits()[..key.words()].to_vec());
            }
            words += key.words() as u32;
            fields.push(key);
        }
        if words as usize > KEY_WORDS_MAX {
            refuse!("the key has {words} words of 64 bits, and {KEY_WORDS_MAX} are the most");
        }
        let only_exact = fields.iter().all(|key| matches!(key.kind, MatchKind::Exact | MatchKind::Longest));
        let lookup = match (of.match_type.as_str(), longest) {
            ("exact", None) if only_exact => Lookup::Exact,
            ("lpm", Some(place)) if only_exact => Lookup::Longest(place),
            ("lpm", None) if only_exact => Lookup::Exact,
            ("ternary" | "range", _) => Lookup::Priority,
            (other, _) => refuse!("a table of match type \"{other}\" with these fields in its key is not supported"),
        };
        Ok((fields, lookup))
    }

    fn key_source(&mut self, of: &json::Key) -> Result<(KeySource, u32)> {
        let valid = |compiler: &Self, name: &str| match compiler.union_named(name) {
            Some(union) => Ok((KeySource::ValidUnion(union), 1)),
            None => Ok((KeySource::Valid(compiler.header(name)?), 1)),
        };
        match &of.target {
            Value::String(name) => valid(self, name),
            Value::Array(names) => {
                let names: Vec<_> = names.iter().filter_map(Value::as_str).collect();
                match names[..] {
                    [header, "$valid$"] => valid(self, header),
                    [header, field] => {
                        let slot = self.slot(header, field)?;
                        Ok((KeySource::Field(slot), slot.width))
                    }
                    _ => refuse!("the key has a field that is named by {}", of.target),
                }
            }
            other => {
                let Operand::Value(node) = self.operand(other)? else { refuse!("the key has no field, but {other}") };
                match self.program.nodes[node as usize] {
                    Node::Access(place, field, slot) => Ok((KeySource::At(place, field), slot.width)),
                    Node::Field(slot) => Ok((KeySource::Field(slot), slot.width)),
                    _ => refuse!("a key over the expression {other} is not supported"),
                }
            }
        }
    }

    fn next(&self, of: &json::Table, actions: &[u32], steps: &BTreeMap<&str, u32>) -> Result<Next> {
        let named = |name: &str| match of.next_tables.get(name) {
            Some(Value::String(next)) => following(steps, Some(next)),
            _ => Ok(None),
        };
        if of.next_tables.contains_key("__HIT__") || of.next_tables.contains_key("__MISS__") {
            return Ok(Next::ByHit(named("__HIT__")?, named("__MISS__")?));
        }
        let names = actions.iter().map(|&action| self.program.actions[action as usize].name.as_str());
        let next: Result<Vec<_>> = names.map(named).collect();
        Ok(Next::ByAction(next?, following(steps, of.base_default_next.as_deref())?))
    }

    fn call(&self, of: &DefaultEntry) -> Result<Call> {
        let action = self.action_id(of.action_id)?;
        let values: Result<Vec<_>> = of.action_data.iter().map(|value| wide(value)).collect();
        call(&self.program, action, &values?)
    }

    fn entry(&self, table: &Table, of: &json::Entry) -> Result<Entry> {
        let matches: Result<Vec<_>> = of.match_key.iter().map(matched).collect();
        entry(table, &matches?, of.priority, Target::Call(self.call(&of.action_entry)?))
    }
}

fn wide(text: &str) -> Result<Wide> {
    Ok(crate::number::wide(&hex_bytes(text)?))
}

fn matched(of: &MatchValue) -> Result<Match> {
    let text = |value: &Option<String>| match value {
        Some(text) => wide(text),
        None => refuse!("an entry of kind {} lacks a value", of.match_type),
    };
    let key = || match &of.key {
        Value::String(text) => wide(text),
        Value::Bool(is_valid) => wide(if *is_valid { "0x1" } else { "0x0" }),
        other => refuse!("{other} is no value of a key"),
    };
    match of.match_type.as_str() {
        "exact" | "valid" => Ok(Match::Exact(key()?)),
        "lpm" => Ok(Match::Prefix(key()?, of.prefix_length.unwrap_or(0))),
        "ternary" | "optional" => Ok(Match::Ternary(key()?, text(&of.mask)?)),
        "range" => Ok(Match::Range(text(&of.start)?, text(&of.end)?)),
        other => refuse!("the match kind \"{other}\" is not supported"),
    }
}

fn following(steps: &BTreeMap<&str, u32>, name: Option<&str>) -> Result<Option<u32>> {
    name.map(|name| number_of(steps, "step", name)).transpose()
}
