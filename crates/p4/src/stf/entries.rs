//! Converts STF entries, `add table priority field:value action(parameter:value)`, to commands.

use crate::error::{Error, Result, refuse};
use crate::program::{Key, MatchKind, Program, Table};
use crate::run::needs_priority;

/// Maximum priority of a test. In STF larger numbers win, in BMv2 smaller ones.
const PRIORITY_MAX: i64 = 10_000;

pub fn add(program: &Program, text: &str) -> Result<String> {
    let (words, action, values) = split(text)?;
    let table = table(program, words.first().map_or("", |word| word))?;
    let mut priority = None;
    let mut keys: Vec<String> = table.key.iter().map(unset).collect();
    for word in words.iter().skip(1) {
        let Some((name, value)) = word.split_once(':') else {
            let number = word.parse::<i64>().map_err(|_| Error::new(format!("\"{word}\" is no field:value")))?;
            priority = Some(number);
            continue;
        };
        let place = field(table, name)?;
        keys[place] = key(&table.key[place], value)?;
    }
    let (action, values) = call(program, table, &action, &values)?;
    let mut command = format!("table_add {} {action} {} => {values}", table.name, keys.join(" "));
    if needs_priority(table) {
        let Some(priority) = priority else { refuse!("an entry of {} needs a priority", table.name) };
        command += &format!(" {}", PRIORITY_MAX - priority);
    }
    Ok(command)
}

pub fn set_default(program: &Program, text: &str) -> Result<String> {
    let (words, action, values) = split(text)?;
    let table = table(program, words.first().map_or("", |word| word))?;
    let (action, values) = call(program, table, &action, &values)?;
    Ok(format!("table_set_default {} {action} {values}", table.name))
}

type Statement = (Vec<String>, String, Vec<(String, String)>);

/// Splits a line into the words before the action, the action's name, and its parameters with their values.
fn split(text: &str) -> Result<Statement> {
    let parts = text.rsplit_once('(').and_then(|(before, rest)| Some((before, rest.split_once(')')?.0)));
    let Some((before, parameters)) = parts else { refuse!("\"{text}\" has no action with its parameters") };
    let before = before.replace('"', "").replace(": ", ":").replace(" :", ":");
    let mut words: Vec<String> = before.split_whitespace().map(str::to_string).collect();
    let action = words.pop().unwrap_or_default();
    let mut values = Vec::new();
    for parameter in parameters.split(',').map(str::trim).filter(|parameter| !parameter.is_empty()) {
        let Some((name, value)) = parameter.split_once(':') else { refuse!("\"{parameter}\" is no parameter:value") };
        values.push((name.trim().to_string(), value.trim().to_string()));
    }
    Ok((words, action, values))
}

fn table<'p>(program: &'p Program, name: &str) -> Result<&'p Table> {
    match program.table(name) {
        Some(table) => Ok(&program.tables[table as usize]),
        None => refuse!("there is no table {name}, or more than one whose name ends so"),
    }
}

fn call(program: &Program, table: &Table, action: &str, values: &[(String, String)]) -> Result<(String, String)> {
    let Some(number) = program.action(&table.actions, action) else {
        refuse!("the table {} has no action {action}, or more than one whose name ends so", table.name);
    };
    let action = &program.actions[number as usize];
    let words = action.parameters.iter().map(|(name, _)| {
        let value = values.iter().find(|(given, _)| given == name);
        value.map(|(_, value)| value.as_str()).ok_or_else(|| Error::new(format!("the parameter {name} has no value")))
    });
    let words: Result<Vec<_>> = words.collect();
    Ok((action.name.clone(), words?.join(" ")))
}

/// The value of a field that a test omits.
fn unset(key: &Key) -> String {
    match key.kind {
        MatchKind::Exact => "0".to_string(),
        MatchKind::Longest => "0/0".to_string(),
        MatchKind::Ternary => "0&&&0".to_string(),
        MatchKind::Range => format!("0->0x{}", "f".repeat(key.width.div_ceil(4) as usize)),
    }
}

/// The index of the field with this name; accepts the variants of names that occur in tests.
fn field(table: &Table, name: &str) -> Result<usize> {
    let mut name = name.to_string();
    if let Some(place) = name.rfind('$') {
        let digits: String = name[place + 1..].chars().take_while(char::is_ascii_digit).collect();
        if !digits.is_empty() {
            let rest = &name[place + 1 + digits.len()..];
            name = format!("{}[{digits}]{rest}", &name[..place]);
        }
    }
    let names = || table.key.iter().map(|key| key.name.as_str());
    let candidates = [name.clone(), format!("{name}$"), format!("{name}.$valid$"), name.replace(".valid", ".$valid$")];
    let exact = candidates.iter().find_map(|candidate| names().position(|known| known == candidate));
    let ending = || {
        let (dotted, dollar) = (format!(".{name}"), format!(".{name}$"));
        names().position(|known| known.ends_with(&dotted) || known.ends_with(&dollar))
    };
    let valid = || names().position(|known| name == "valid" && known.ends_with("$valid$"));
    match exact.or_else(ending).or_else(valid) {
        Some(place) => Ok(place),
        None => {
            refuse!("the key of {} has no field {name}, but {}", table.name, names().collect::<Vec<_>>().join(", "))
        }
    }
}

/// Converts a value for commands: "*" becomes a mask or the end of a prefix.
fn key(key: &Key, value: &str) -> Result<String> {
    let bits_per_digit = match value.get(..2).map(str::to_ascii_lowercase).as_deref() {
        Some("0x") => 4,
        Some("0o") => 3,
        Some("0b") => 1,
        _ => 0,
    };
    Ok(match key.kind {
        MatchKind::Ternary if bits_per_digit > 0 && value.contains('*') => {
            let (radix, digits) = value.split_at(2);
            let full = ["1", "", "7", "f"][bits_per_digit as usize - 1];
            let mask: String = digits.chars().map(|digit| if digit == '*' { "0" } else { full }).collect();
            format!("{}&&&{radix}{mask}", value.replace('*', "0"))
        }
        MatchKind::Ternary if value.contains("&&&") || value.contains('/') => value.to_string(),
        MatchKind::Ternary => format!("{value}/{}", key.width),
        MatchKind::Longest if value.contains('/') => value.to_string(),
        MatchKind::Longest if bits_per_digit == 0 => format!("{value}/{}", key.width),
        MatchKind::Longest => {
            let known = value.len() as u32 - 2 - value.matches('*').count() as u32;
            format!("{}/{}", value.replace('*', "0"), (known * bits_per_digit).min(key.width))
        }
        MatchKind::Range if !value.contains("->") => format!("{value}->{value}"),
        MatchKind::Exact | MatchKind::Range => value.to_string(),
    })
}
