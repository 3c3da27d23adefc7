//! Parser for the text format of protocol buffers (protobuf.dev, "Text Format Language Specification"). It yields a
//! tree of fields, each with its line; [`schema`](super::schema) checks their values.

use crate::error::{Error, Result, refuse};

// prost-reflect has a parser of this format too, but its messages do not keep lines, and each refusal names the line of
// an update. It also refuses fields that a newer p4c writes into a p4info.

/// Maximum nesting depth of messages, the same as in protocol buffers' own parsers.
const DEPTH_MAX: u32 = 100;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// The field's name; for extensions and the type of an `Any`, with the brackets.
    pub name: String,
    /// The line of the name, or of the list element; from 1.
    pub line: u32,
    pub value: Value,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Value {
    Message(Vec<Field>),
    /// A quoted string with resolved escapes.
    Bytes(Vec<u8>),
    /// A number or name as written.
    Word(String),
}

/// Parses the fields of the message in `text`.
pub fn parse(text: &str, file: &str) -> Result<Vec<Field>> {
    let mut parser = Parser { rest: text, line: 1, depth: 0 };
    let fields = parser.fields(None);
    fields.map_err(|error| error.at(Some(format!("{file}:{}", parser.line))))
}

struct Parser<'t> {
    rest: &'t str,
    line: u32,
    depth: u32,
}

impl<'t> Parser<'t> {
    /// The next character after spaces and comments.
    fn peek(&mut self) -> Option<char> {
        loop {
            let next = self.rest.chars().next()?;
            match next {
                '\n' => self.line += 1,
                '#' => {
                    let end = self.rest.find('\n').unwrap_or(self.rest.len());
                    self.rest = &self.rest[end..];
                    continue;
                }
                other if other.is_ascii_whitespace() || other == '\u{b}' => {}
                other => return Some(other),
            }
            self.rest = &self.rest[1..];
        }
    }

    /// Takes the next character if it is one of `of`.
    fn take(&mut self, of: &[char]) -> Option<char> {
        let next = self.peek().filter(|next| of.contains(next))?;
        self.rest = &self.rest[next.len_utf8()..];
        Some(next)
    }

    fn found(&mut self) -> String {
        self.peek().map_or_else(|| "the end of the file".into(), |next| format!("\"{next}\""))
    }

    /// Parses all fields up to `end`, or to the end of the file.
    fn fields(&mut self, end: Option<char>) -> Result<Vec<Field>> {
        let mut fields = Vec::new();
        loop {
            match (self.peek(), end) {
                (None, None) => return Ok(fields),
                (None, Some(end)) => refuse!("the file ends before a message does: \"{end}\" is missing"),
                (Some(next), Some(end)) if next == end => {
                    self.take(&[end]);
                    return Ok(fields);
                }
                _ => self.field(&mut fields)?,
            }
            self.take(&[',', ';']);
        }
    }

    fn field(&mut self, fields: &mut Vec<Field>) -> Result<()> {
        self.peek();
        let line = self.line;
        let name = self.name()?;
        let has_colon = self.take(&[':']).is_some();
        if self.take(&['[']).is_some() {
            if self.take(&[']']).is_some() {
                return Ok(());
            }
            loop {
                self.peek();
                let line = self.line;
                fields.push(Field { name: name.clone(), line, value: self.value(&name, has_colon)? });
                if self.take(&[',']).is_none() {
                    break;
                }
            }
            if self.take(&[']']).is_none() {
                let found = self.found();
                refuse!("the list of {name} has {found}, where \",\" or \"]\" is due");
            }
            return Ok(());
        }
        fields.push(Field { value: self.value(&name, has_colon)?, name, line });
        Ok(())
    }

    fn name(&mut self) -> Result<String> {
        if self.take(&['[']).is_some() {
            let Some((name, rest)) = self.rest.split_once(']').filter(|(name, _)| !name.contains('\n')) else {
                refuse!("\"[\" begins the name of an extension, and \"]\" is missing in this line");
            };
            self.rest = rest;
            return Ok(format!("[{}]", name.trim()));
        }
        match self.word() {
            name if name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_') => Ok(name.into()),
            "" => {
                let found = self.found();
                refuse!("the name of a field is due, and {found} is found")
            }
            other => refuse!("the name of a field is due, and \"{other}\" is found"),
        }
    }

    fn value(&mut self, name: &str, has_colon: bool) -> Result<Value> {
        if let Some(open) = self.take(&['{', '<']) {
            self.depth += 1;
            if self.depth > DEPTH_MAX {
                refuse!("messages are nested more than {DEPTH_MAX} deep");
            }
            let fields = self.fields(Some(if open == '{' { '}' } else { '>' }))?;
            self.depth -= 1;
            return Ok(Value::Message(fields));
        }
        let found = self.found();
        if !has_colon {
            refuse!("the field {name} has no value: \":\" or \"{{\" is due, and {found} is found");
        }
        if self.peek().is_some_and(|next| matches!(next, '"' | '\'')) {
            return self.strings().map(Value::Bytes);
        }
        let sign = if self.take(&['-']).is_some() { "-" } else { "" };
        self.peek();
        match self.word() {
            "" => refuse!("the field {name} has no value: {found} is found"),
            word => Ok(Value::Word(format!("{sign}{word}"))),
        }
    }

    /// Takes a word: letters, digits, "_" and ".", and the sign of an exponent.
    fn word(&mut self) -> &'t str {
        let is_number = self.rest.starts_with(|first: char| first.is_ascii_digit() || first == '.');
        let is_decimal = is_number && !self.rest.starts_with("0x") && !self.rest.starts_with("0X");
        let mut before = ' ';
        let end = self.rest.find(|next: char| {
            let is_sign = is_decimal && matches!(next, '+' | '-') && matches!(before, 'e' | 'E');
            before = next;
            !(next.is_ascii_alphanumeric() || next == '_' || next == '.' || is_sign)
        });
        let (word, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        word
    }

    /// Takes one or more adjacent strings, and concatenates them.
    fn strings(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        while let Some(quote) = self.take(&['"', '\'']) {
            loop {
                let mut characters = self.rest.chars();
                let next = characters.next();
                self.rest = characters.as_str();
                match next {
                    None | Some('\n') => refuse!("a string does not end in its line: {quote} is missing"),
                    Some(next) if next == quote => break,
                    Some('\\') => self.escape(&mut bytes)?,
                    Some(next) => bytes.extend(next.encode_utf8(&mut [0; 4]).bytes()),
                }
            }
        }
        Ok(bytes)
    }

    fn escape(&mut self, bytes: &mut Vec<u8>) -> Result<()> {
        let Some(kind) = self.rest.chars().next() else { refuse!("a string ends within an escape") };
        if kind.is_digit(8) {
            let code = self.digits(3, 8);
            let byte = code.and_then(|code| u8::try_from(code).ok());
            bytes.push(byte.ok_or_else(|| Error::new("an octal escape is more than \\377"))?);
            return Ok(());
        }
        self.rest = &self.rest[kind.len_utf8()..];
        let byte = match kind {
            'a' => 7,
            'b' => 8,
            'f' => 12,
            'n' => b'\n',
            'r' => b'\r',
            't' => b'\t',
            'v' => 11,
            '?' | '\\' | '\'' | '"' => kind as u8,
            'x' | 'X' => match self.digits(2, 16) {
                Some(code) => code as u8,
                None => refuse!("\\{kind} has no hexadecimal digit behind it"),
            },
            'u' | 'U' => {
                let length = if kind == 'u' { 4 } else { 8 };
                let before = self.rest.len();
                let code = self.digits(length, 16).filter(|_| before - self.rest.len() == length);
                let Some(character) = code.and_then(char::from_u32) else {
                    refuse!("\\{kind} needs {length} hexadecimal digits that are a character");
                };
                bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
                return Ok(());
            }
            other => refuse!("\"\\{}\" is no escape", other.escape_default()),
        };
        bytes.push(byte);
        Ok(())
    }

    /// Takes a number of up to `most` digits; `None` without a digit.
    fn digits(&mut self, most: usize, radix: u32) -> Option<u32> {
        let count = self.rest.chars().take(most).take_while(|next| next.is_digit(radix)).count();
        let (digits, rest) = self.rest.split_at(count);
        self.rest = rest;
        u32::from_str_radix(digits, radix).ok()
    }
}
