//! Message schemas, and the check of text messages against them, after which every field has a valid value.

use std::collections::BTreeSet;

use super::text::{Field, Value, parse};
use crate::error::{Error, Result, refuse};

#[derive(Debug)]
pub struct Kind {
    /// The type's name in the interface definition.
    pub name: &'static str,
    pub fields: &'static [Known],
    /// Unknown fields are ignored: the compiler's output has fields that entries do not need.
    pub is_open: bool,
}

#[derive(Debug)]
pub struct Known {
    pub name: &'static str,
    pub shape: Shape,
    pub is_repeated: bool,
    /// At most one of the fields with the same choice (`oneof`) can be present.
    pub choice: Option<&'static str>,
}

#[derive(Debug)]
pub enum Shape {
    /// `uint32` or `uint64`, with this many bits.
    Unsigned(u32),
    /// `int32` or `int64`, with this many bits.
    Signed(u32),
    /// `bool`.
    Flag,
    Bytes,
    /// `string`.
    Text,
    /// An enumeration: names and numbers.
    Enum(&'static [(&'static str, i64)]),
    Message(&'static Kind),
}

/// A message that conforms to its type.
#[derive(Clone, Copy, Debug)]
pub struct Message<'t> {
    kind: &'static Kind,
    fields: &'t [Field],
    file: &'t str,
    line: u32,
}

/// Adds a place to an error, unless it has a more exact one already.
pub trait At<T> {
    /// Adds the line of `message`, and the name of the object `thing`.
    fn in_line(self, message: Message<'_>, thing: &str) -> Result<T>;
}

impl<T> At<T> for Result<T> {
    fn in_line(self, message: Message<'_>, thing: &str) -> Self {
        self.map_err(|Error { what, place }| match place {
            Some(_) => Error { what, place },
            None => Error { what: format!("{thing}: {what}"), place: Some(message.place()) },
        })
    }
}

/// A message read from a file, which conforms to its type.
#[derive(Clone, Debug)]
pub struct Document {
    kind: &'static Kind,
    fields: Vec<Field>,
    file: String,
}

impl Document {
    /// Reads the message in `text` and checks it against `kind`.
    pub fn read(text: &str, file: &str, kind: &'static Kind) -> Result<Self> {
        let fields = parse(text, file)?;
        check(&fields, kind, file)?;
        Ok(Self { kind, fields, file: file.into() })
    }

    pub fn message(&self) -> Message<'_> {
        Message { kind: self.kind, fields: &self.fields, file: &self.file, line: 1 }
    }
}

fn check(fields: &[Field], kind: &'static Kind, file: &str) -> Result<()> {
    let mut seen = BTreeSet::new();
    let mut chosen: Vec<(&str, &str)> = Vec::new();
    for field in fields {
        let at = |error: Error| error.at(Some(format!("{file}:{}", field.line)));
        let Some(known) = kind.fields.iter().find(|known| known.name == field.name) else {
            if kind.is_open {
                continue;
            }
            let names: Vec<_> = kind.fields.iter().map(|known| known.name).collect();
            let what = format!("{} has no field {}, but {}", kind.name, field.name, names.join(", "));
            return Err(at(Error::new(what)));
        };
        if !seen.insert(&field.name) && !known.is_repeated {
            return Err(at(Error::new(format!("{} has the field {} twice", kind.name, field.name))));
        }
        if let Some(choice) = known.choice {
            if let Some((_, other)) = chosen.iter().find(|(of, _)| *of == choice) {
                let what = format!("{} has both {other} and {}, and may have one of them", kind.name, field.name);
                return Err(at(Error::new(what)));
            }
            chosen.push((choice, known.name));
        }
        match (&known.shape, &field.value) {
            (Shape::Message(kind), Value::Message(fields)) => check(fields, kind, file)?,
            (shape, value) => scalar(kind, known.name, shape, value).map_err(at)?,
        }
    }
    Ok(())
}

fn scalar(kind: &Kind, name: &str, shape: &Shape, value: &Value) -> Result<()> {
    let of = kind.name;
    match (shape, value) {
        (Shape::Unsigned(bits), Value::Word(word)) => match integer(word) {
            Some(value) if value >= 0 && value >> bits == 0 => Ok(()),
            _ => refuse!("{of}: {name} is a number of {bits} bits without a sign, and \"{word}\" is none"),
        },
        (Shape::Signed(bits), Value::Word(word)) => {
            let half = 1i128 << (bits - 1);
            match integer(word) {
                Some(value) if (-half..half).contains(&value) => Ok(()),
                _ => refuse!("{of}: {name} is a number of {bits} bits with a sign, and \"{word}\" is none"),
            }
        }
        (Shape::Flag, Value::Word(word)) => match flag(word) {
            Some(_) => Ok(()),
            None => refuse!("{of}: {name} is true or false, and not \"{word}\""),
        },
        (Shape::Enum(names), Value::Word(word)) => match enumerated(names, word) {
            Some(_) => Ok(()),
            None => {
                let names: Vec<_> = names.iter().map(|(name, _)| *name).collect();
                refuse!("{of}: {name} is one of {}, and not \"{word}\"", names.join(", "))
            }
        },
        (Shape::Bytes | Shape::Text, Value::Bytes(_)) => Ok(()),
        (Shape::Bytes | Shape::Text, Value::Word(word)) => {
            refuse!("{of}: {name} is written in quotes, as \"\\x0a\", and \"{word}\" is not")
        }
        (Shape::Message(_), _) => refuse!("{of}: {name} is a message in braces"),
        (_, Value::Message(_)) => refuse!("{of}: {name} is no message in braces"),
        (_, Value::Bytes(_)) => refuse!("{of}: {name} is no string in quotes"),
    }
}

/// An integer: decimal, octal (0...) or hexadecimal (0x...).
fn integer(word: &str) -> Option<i128> {
    let (sign, digits) = word.strip_prefix('-').map_or((1, word), |digits| (-1, digits));
    let (digits, radix) = match digits.get(..2) {
        Some("0x" | "0X") => (&digits[2..], 16),
        Some(_) if digits.starts_with('0') => (&digits[1..], 8),
        _ => (digits, 10),
    };
    // `from_str_radix` accepts a sign too, but here it was removed already.
    let value = i128::from_str_radix(digits, radix).ok().filter(|_| !digits.starts_with(['+', '-']))?;
    (value <= i128::from(u64::MAX)).then_some(sign * value)
}

fn flag(word: &str) -> Option<bool> {
    match word {
        "true" | "True" | "t" | "1" => Some(true),
        "false" | "False" | "f" | "0" => Some(false),
        _ => None,
    }
}

fn enumerated(names: &[(&str, i64)], word: &str) -> Option<i64> {
    let named = names.iter().find(|(name, _)| *name == word).map(|(_, value)| *value);
    named
        .or_else(|| integer(word).and_then(|value| names.iter().map(|(_, of)| *of).find(|of| i128::from(*of) == value)))
}

impl<'t> Message<'t> {
    /// File and first line of the message.
    pub fn place(&self) -> String {
        format!("{}:{}", self.file, self.line)
    }

    fn known(&self, name: &str) -> &'static Known {
        let known = self.kind.fields.iter().find(|known| known.name == name);
        known.unwrap_or_else(|| panic!("{} has no field {name}", self.kind.name))
    }

    fn field(&self, name: &str) -> Option<&'t Field> {
        let known = self.known(name);
        self.fields.iter().find(|field| field.name == known.name)
    }

    fn word(&self, name: &str) -> Option<&'t str> {
        match &self.field(name)?.value {
            Value::Word(word) => Some(word),
            _ => None,
        }
    }

    pub fn has(&self, name: &str) -> bool {
        self.field(name).is_some()
    }

    /// A signed number, or the number of an enumeration's name; 0 if absent, as the interface defines.
    pub fn signed(&self, name: &str) -> i64 {
        let value = self.word(name).and_then(|word| match self.known(name).shape {
            Shape::Enum(names) => enumerated(names, word),
            _ => integer(word).and_then(|value| i64::try_from(value).ok()),
        });
        value.unwrap_or(0)
    }

    /// An unsigned number; 0 if absent.
    pub fn number(&self, name: &str) -> u64 {
        let value = self.word(name).and_then(integer).and_then(|value| u64::try_from(value).ok());
        value.unwrap_or(0)
    }

    /// An unsigned number of at most 32 bits, like all identifiers; 0 if absent.
    pub fn id(&self, name: &str) -> u32 {
        u32::try_from(self.number(name)).unwrap_or(0)
    }

    pub fn ids(&self, name: &str) -> Vec<u32> {
        let fields = self.fields.iter().filter(|field| field.name == name);
        let words = fields.filter_map(|field| match &field.value {
            Value::Word(word) => integer(word),
            _ => None,
        });
        words.filter_map(|value| u32::try_from(value).ok()).collect()
    }

    /// A truth value; false if absent.
    pub fn flag(&self, name: &str) -> bool {
        self.word(name).and_then(flag).unwrap_or(false)
    }

    /// A byte string; empty if absent.
    pub fn bytes(&self, name: &str) -> &'t [u8] {
        match self.field(name).map(|field| &field.value) {
            Some(Value::Bytes(bytes)) => bytes,
            _ => &[],
        }
    }

    /// A text; empty if absent.
    pub fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(self.bytes(name)).into_owned()
    }

    pub fn message(&self, name: &str) -> Option<Message<'t>> {
        self.messages(name).next()
    }

    pub fn messages(&self, name: &str) -> impl Iterator<Item = Message<'t>> + use<'t> {
        let kind = match self.known(name).shape {
            Shape::Message(kind) => Some(kind),
            _ => None,
        };
        let (name, file) = (name.to_string(), self.file);
        let fields = self.fields.iter().filter(move |field| field.name == name);
        fields.filter_map(move |field| match (&field.value, kind) {
            (Value::Message(fields), Some(kind)) => Some(Message { kind, fields, file, line: field.line }),
            _ => None,
        })
    }

    /// The name of the field present in a choice.
    pub fn chosen(&self, choice: &str) -> Option<&'static str> {
        let of = self.kind.fields.iter().filter(|known| known.choice == Some(choice));
        of.map(|known| known.name).find(|name| self.fields.iter().any(|field| field.name == *name))
    }

    /// The first of `names` that is present with a value other than the default (0, false, or empty), with its place.
    pub fn first_set(&self, names: &[&'static str]) -> Option<(&'static str, String)> {
        names.iter().find_map(|name| {
            let field = self.field(name)?;
            let is_set = match &field.value {
                Value::Message(_) => true,
                Value::Bytes(bytes) => !bytes.is_empty(),
                Value::Word(word) => integer(word) != Some(0) && flag(word) != Some(false),
            };
            is_set.then(|| (*name, format!("{}:{}", self.file, field.line)))
        })
    }
}
