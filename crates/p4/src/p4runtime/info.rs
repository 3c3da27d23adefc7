//! The p4info of a program: the meaning of P4Runtime's numbers, checked against the program.

use std::collections::BTreeMap;

use super::messages::{MATCH_TYPES, P4_INFO};
use super::schema::{Document, Message};
use crate::error::{Error, Result, refuse};
use crate::program::{Action, MatchKind, Program, Table};

#[derive(Debug, Default)]
pub struct P4Info {
    /// Kind and name of each object by its number.
    pub names: BTreeMap<u32, (&'static str, String)>,
    pub tables: BTreeMap<u32, TableInfo>,
    pub actions: BTreeMap<u32, ActionInfo>,
    pub profiles: BTreeMap<u32, ProfileInfo>,
    /// Counter arrays: their indices in the program.
    pub counters: BTreeMap<u32, usize>,
    pub meters: BTreeMap<u32, usize>,
    pub registers: BTreeMap<u32, RegisterInfo>,
    pub value_sets: BTreeMap<u32, ValueSetInfo>,
}

#[derive(Debug)]
pub struct TableInfo {
    pub name: String,
    pub table: u32,
    /// The fields of the key, in the program's order.
    pub fields: Vec<FieldInfo>,
    /// The actions by number, with their scopes.
    pub actions: BTreeMap<u32, i64>,
    pub has_constant_default: bool,
    pub is_constant: bool,
    /// The action profile; 0 if none.
    pub profile: u32,
}

#[derive(Clone, Debug)]
pub struct FieldInfo {
    pub id: u32,
    pub name: String,
    pub width: u32,
    /// Match kind: "EXACT", "LPM", "TERNARY", "RANGE" or "OPTIONAL".
    pub kind: &'static str,
}

#[derive(Debug)]
pub struct ActionInfo {
    pub name: String,
    /// Parameters: number, name, width in bits.
    pub parameters: Vec<(u32, String, u32)>,
}

#[derive(Debug)]
pub struct ProfileInfo {
    pub name: String,
    pub profile: u32,
    /// The tables that use its members.
    pub tables: Vec<u32>,
    /// Whether it has groups: a selector then takes a member for each packet.
    pub has_selector: bool,
    /// Maximum number of members; with a selector, maximum number of places in all groups. 0 for no limit.
    pub size: i64,
    /// Maximum number of places in a group; 0 for no limit.
    pub group_size: i64,
    /// A member takes one place of its group, whatever its weight.
    pub counts_members: bool,
    /// Maximum weight if members are counted; 0 for no limit.
    pub weight_max: i64,
}

#[derive(Debug)]
pub struct RegisterInfo {
    pub register: usize,
    /// Type of the cells; `None` for anything but `bit`, `int` and `bool`.
    pub cell: Option<Cell>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    Bit(u32),
    Int(u32),
    Bool,
}

#[derive(Debug)]
pub struct ValueSetInfo {
    pub set: usize,
    pub fields: Vec<FieldInfo>,
    /// Maximum number of members.
    pub size: i64,
}

impl P4Info {
    /// Reads the p4info in `text`, which must belong to `program`.
    pub fn load(text: &str, file: &str, program: &Program) -> Result<Self> {
        let document = Document::read(text, file, &P4_INFO)?;
        let message = document.message();
        let mut info = Self { names: names(message)?, ..Self::default() };
        for action in message.messages("actions") {
            let (id, name) = preamble(action);
            info.actions.insert(id, ActionInfo { name, parameters: parameters(action)? });
        }
        for table in message.messages("tables") {
            let (id, name) = preamble(table);
            // A table that is never applied is not in the program.
            let Some(number) = program.tables.iter().position(|known| known.name == name) else { continue };
            let made = at(table, info.table(table, (name, number), program))?;
            info.tables.insert(id, made);
        }
        info.arrays(message, program)?;
        Ok(info)
    }

    /// Describes the object with this number for error messages.
    pub fn describe(&self, id: u32) -> String {
        match self.names.get(&id) {
            Some((kind, name)) => format!("{id} (0x{id:08x}), which is the {kind} {name}"),
            None if id == 0 => "0, which is no number of a thing: it is left out, or unset".into(),
            None => format!("{id} (0x{id:08x}), which the p4info has not"),
        }
    }

    fn table(&self, table: Message<'_>, (name, number): (String, usize), program: &Program) -> Result<TableInfo> {
        let known = &program.tables[number];
        let fields = in_order(&name, fields(table, "match_fields")?, known)?;
        let references = table.messages("action_refs").map(|action| (action.id("id"), action.signed("scope")));
        let actions: BTreeMap<_, _> = references.collect();
        for id in actions.keys() {
            let Some(action) = self.actions.get(id) else {
                refuse!("the table {name} has the action {}", self.describe(*id));
            };
            let mut of = known.actions.iter().map(|&number| &program.actions[number as usize]);
            // An action removed by the compiler cannot occur in entries.
            if let Some(found) = of.find(|known| known.name == action.name) {
                same_parameters(&name, action, found)?;
            }
        }
        let profile = table.id("implementation_id");
        if (profile != 0) != known.profile.is_some() {
            refuse!("the table {name} has an action profile only in one of program and p4info");
        }
        Ok(TableInfo {
            name,
            table: number as u32,
            fields,
            actions,
            has_constant_default: table.id("const_default_action_id") != 0 || known.is_default_constant,
            is_constant: table.flag("is_const_table") || !known.entries.is_empty(),
            profile,
        })
    }

    fn arrays(&mut self, message: Message<'_>, program: &Program) -> Result<()> {
        for profile in message.messages("action_profiles") {
            let (id, name) = preamble(profile);
            // A profile that no table uses is not in the program.
            let Some(number) = program.profiles.iter().position(|known| known.name == name) else { continue };
            let by_members = profile.message("sum_of_members");
            let made = ProfileInfo {
                name,
                profile: number as u32,
                tables: profile.ids("table_ids"),
                has_selector: profile.flag("with_selector"),
                size: profile.signed("size"),
                group_size: profile.signed("max_group_size"),
                counts_members: by_members.is_some(),
                weight_max: by_members.map_or(0, |of| of.signed("max_member_weight")),
            };
            self.profiles.insert(id, made);
        }
        for of in message.messages("counters") {
            let (id, counter) = found(of, "counter array", &program.counters, |known, name| {
                known.name == name && known.table.is_none()
            })?;
            self.counters.insert(id, counter);
        }
        for of in message.messages("meters") {
            let (id, meter) =
                found(of, "meter array", &program.meters, |known, name| known.name == name && !known.is_direct)?;
            self.meters.insert(id, meter);
        }
        for of in message.messages("registers") {
            let (id, register) = found(of, "register array", &program.registers, |known, name| known.name == name)?;
            self.registers.insert(id, RegisterInfo { register, cell: cell(of) });
        }
        for of in message.messages("value_sets") {
            let (id, set) = found(of, "value set", &program.value_sets, |known, name| known.name == name)?;
            let made = ValueSetInfo { set, fields: fields(of, "match")?, size: of.signed("size") };
            self.value_sets.insert(id, made);
        }
        Ok(())
    }
}

fn preamble(of: Message<'_>) -> (u32, String) {
    of.message("preamble").map_or((0, String::new()), |preamble| (preamble.id("id"), preamble.text("name")))
}

fn at<T>(of: Message<'_>, result: Result<T>) -> Result<T> {
    result.map_err(|error| error.at(Some(of.place())))
}

/// The number of the object described by `of`, and its index in the program.
fn found<T>(of: Message<'_>, kind: &str, all: &[T], is: impl Fn(&T, &str) -> bool) -> Result<(u32, usize)> {
    let (id, name) = preamble(of);
    let place = all.iter().position(|known| is(known, &name));
    Ok((id, at(of, place.ok_or_else(|| Error::new(format!("the program has no {kind} {name}"))))?))
}

fn names(message: Message<'_>) -> Result<BTreeMap<u32, (&'static str, String)>> {
    const KINDS: [(&str, &str); 10] = [
        ("tables", "table"),
        ("actions", "action"),
        ("action_profiles", "action profile"),
        ("counters", "counter array"),
        ("direct_counters", "direct counter"),
        ("meters", "meter array"),
        ("direct_meters", "direct meter"),
        ("value_sets", "value set"),
        ("registers", "register array"),
        ("digests", "digest"),
    ];
    let mut names = BTreeMap::new();
    for (field, kind) in KINDS {
        for thing in message.messages(field) {
            let (id, name) = preamble(thing);
            let known = match names.get(&id) {
                _ if id == 0 => Err(Error::new(format!("the {kind} {name} has no id in its preamble"))),
                Some((other, known)) => {
                    Err(Error::new(format!("the {kind} {name} has the id {id} of the {other} {known}")))
                }
                None => Ok(()),
            };
            at(thing, known)?;
            names.insert(id, (kind, name));
        }
    }
    Ok(names)
}

fn parameters(action: Message<'_>) -> Result<Vec<(u32, String, u32)>> {
    let parameters = action.messages("params").map(|parameter| {
        let width = at(parameter, width(parameter))?;
        Ok((parameter.id("id"), parameter.text("name"), width))
    });
    parameters.collect()
}

/// Checks that an action of a table has the same parameters in the program.
fn same_parameters(table: &str, action: &ActionInfo, found: &Action) -> Result<()> {
    let widths: Vec<_> = found.parameters.iter().map(|(name, slot)| (name.as_str(), slot.width)).collect();
    let given: Vec<_> = action.parameters.iter().map(|(_, name, width)| (name.as_str(), *width)).collect();
    if given.iter().any(|(_, width)| *width == 0) || widths == given {
        return Ok(());
    }
    let text = |of: &[(&str, u32)]| {
        let of: Vec<_> = of.iter().map(|(name, width)| format!("bit<{width}> {name}")).collect();
        of.join(", ")
    };
    let (program, given) = (text(&widths), text(&given));
    refuse!("the action {} of {table} has the parameters ({program}) in the program, and here ({given})", action.name);
}

fn fields(of: Message<'_>, name: &str) -> Result<Vec<FieldInfo>> {
    of.messages(name).map(|field| at(field, self::field(field))).collect()
}

fn field(field: Message<'_>) -> Result<FieldInfo> {
    let name = field.text("name");
    if field.has("other_match_type") {
        refuse!("the field {name} is matched \"{}\", which is not supported", field.text("other_match_type"));
    }
    let kind = MATCH_TYPES.iter().find(|(_, number)| *number == field.signed("match_type"));
    let kind = kind.map_or("UNSPECIFIED", |(name, _)| name);
    Ok(FieldInfo { id: field.id("id"), width: width(field)?, name, kind })
}

/// The fields of a key in the program's order, which their numbers need not follow.
fn in_order(table: &str, given: Vec<FieldInfo>, known: &Table) -> Result<Vec<FieldInfo>> {
    if given.len() != known.key.len() {
        refuse!("the key of {table} has {} fields in the program, and {} here", known.key.len(), given.len());
    }
    for (field, key) in given.iter().zip(&known.key) {
        let is_same_kind = matches!(
            (field.kind, key.kind),
            ("EXACT", MatchKind::Exact)
                | ("LPM", MatchKind::Longest)
                | ("TERNARY" | "OPTIONAL", MatchKind::Ternary)
                | ("RANGE", MatchKind::Range)
        );
        if field.name != key.name || !is_same_kind || (field.width != key.width && field.width != 0) {
            refuse!(
                "the key of {table} has the field {} ({} bits, {}) in the program, and here {} ({} bits, {})",
                key.name,
                key.width,
                key.kind.name(),
                field.name,
                field.width,
                field.kind
            );
        }
    }
    Ok(given)
}

/// The width of a field or parameter; 0 if the control plane writes it as text (`@p4runtime_translation`).
fn width(of: Message<'_>) -> Result<u32> {
    u32::try_from(of.signed("bitwidth")).map_err(|_| Error::new(format!("{} has a negative width", of.text("name"))))
}

fn cell(register: Message<'_>) -> Option<Cell> {
    let of = register.message("type_spec")?;
    if of.has("bool") {
        return Some(Cell::Bool);
    }
    let bits = of.message("bitstring")?;
    let width = |of: Message<'_>| u32::try_from(of.signed("bitwidth")).ok();
    match (bits.message("bit"), bits.message("int")) {
        (Some(bit), _) => width(bit).map(Cell::Bit),
        (None, Some(int)) => width(int).map(Cell::Int),
        (None, None) => None,
    }
}
