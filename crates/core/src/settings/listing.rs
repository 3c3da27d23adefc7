//! The schema as text for people: every field with its type, unit, default and meaning.

use std::collections::VecDeque;
use std::fmt::Write;

use serde_json::{Map, Value};

use crate::settings::shape;

struct Section<'a> {
    title: String,
    /// Prefix of the names of sub-sections.
    prefix: String,
    schema: &'a Value,
}

/// The text written up to now, and the sections still to be written.
pub struct Listing<'a> {
    root: &'a Value,
    text: String,
    open: VecDeque<Section<'a>>,
}

const WIDTH: usize = 100;

impl<'a> Listing<'a> {
    /// Lists every field of a file with `schema`, section by section.
    pub fn of(schema: &'a Value) -> Self {
        let mut listing = Self { root: schema, text: String::new(), open: VecDeque::new() };
        listing.open.push_back(Section { title: "Top of the file".into(), prefix: String::new(), schema });
        while let Some(section) = listing.open.pop_front() {
            listing.section(&section);
        }
        listing
    }

    pub fn into_text(self) -> String {
        self.text
    }

    pub fn line(&mut self, line: impl AsRef<str>) {
        self.text.push_str(line.as_ref().trim_end());
        self.text.push('\n');
    }

    /// Appends a paragraph of lines indented by `indent` spaces.
    pub fn paragraph(&mut self, indent: usize, words: &str) {
        let mut line = String::new();
        for word in words.split_whitespace() {
            if !line.is_empty() && indent + line.len() + 1 + word.len() > WIDTH {
                self.line(format!("{:indent$}{line}", ""));
                line.clear();
            }
            let gap = if line.is_empty() { "" } else { " " };
            let _ = write!(line, "{gap}{word}");
        }
        self.line(format!("{:indent$}{line}", ""));
    }

    fn section(&mut self, section: &Section<'a>) {
        self.line(&section.title);
        self.line("-".repeat(section.title.chars().count()));
        self.paragraph(0, description(section.schema));
        self.line("");
        let tagged = shape::tagged_variants(section.schema);
        let tag = tagged.as_ref().map_or("", |(tag, _)| *tag);
        if section.schema.get("properties").is_some() {
            self.fields(section.schema, tag, &section.prefix);
        }
        for (name, variant) in tagged.into_iter().flat_map(|(_, variants)| variants) {
            self.paragraph(0, &format!("{tag} = \"{name}\": {}", description(variant)));
            self.line("");
            self.fields(variant, tag, &section.prefix);
        }
    }

    fn fields(&mut self, schema: &'a Value, tag: &str, prefix: &str) {
        for (name, property, required) in sorted_properties(schema).filter(|(name, _, _)| *name != tag) {
            let resolved = shape::resolve(self.root, property);
            let kind = match shape::word(self.root, property) {
                Some(word) => format!(
                    "{}, or one of {}",
                    self.kind_text(resolved, &format!("{prefix}{name}")),
                    self.kind_text(word, name)
                ),
                None => self.kind_text(resolved, &format!("{prefix}{name}")),
            };
            self.line(format!("  {name:<24} {kind}; {}", default_text(property, required)));
            self.paragraph(6, description(property));
            self.choices(resolved);
            self.open_table(resolved, name, prefix);
        }
        self.line("");
    }

    fn choices(&mut self, schema: &'a Value) {
        let choices = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
        for choice in choices {
            if let Some(name) = choice.get("const").and_then(Value::as_str) {
                self.paragraph(8, &format!("\"{name}\": {}", description(choice)));
            }
        }
    }

    fn kind_text(&self, schema: &Value, name: &str) -> String {
        let names: Vec<String> = shape::names(schema).iter().map(|name| format!("\"{name}\"")).collect();
        let format = schema.get("format").and_then(Value::as_str);
        let example = schema.get("examples").and_then(|examples| examples.get(0));
        match (shape::kind_of(schema), format, example) {
            ("string", ..) if !names.is_empty() => names.join(" | "),
            ("string", Some(format), Some(example)) => format!("{format}, as {example}"),
            ("string", ..) => "text".into(),
            ("boolean", ..) => "true or false".into(),
            ("integer", ..) => format!("whole number{}", range_text(schema)),
            ("number", ..) => format!("number{}", range_text(schema)),
            ("array", ..) => {
                let items = schema.get("items").map(|items| shape::resolve(self.root, items)).unwrap_or(&Value::Null);
                match shape::kind_of(items) {
                    "object" => format!("tables, see [[{name}]]"),
                    _ => format!("list of {}", self.kind_text(items, name)),
                }
            }
            _ => format!("table, see [{name}]"),
        }
    }

    fn open_table(&mut self, schema: &'a Value, name: &str, prefix: &str) {
        let is_list = shape::kind_of(schema) == "array";
        let table =
            if is_list { schema.get("items").map(|items| shape::resolve(self.root, items)) } else { Some(schema) };
        let Some(table) = table.filter(|table| shape::kind_of(table) == "object") else { return };
        let path = format!("{prefix}{name}");
        let title = if is_list { format!("[[{path}]]") } else { format!("[{path}]") };
        // Two mechanisms can have different tables with the same name, so the schemas are compared too.
        if !self.open.iter().any(|section| section.title == title && section.schema == table) {
            self.open.push_back(Section { title, prefix: format!("{path}."), schema: table });
        }
    }
}

fn description(schema: &Value) -> &str {
    schema.get("description").and_then(Value::as_str).unwrap_or("")
}

/// Required fields in the order of the struct, then the others by name, independent of the order of keys in a JSON
/// object.
fn sorted_properties(schema: &Value) -> impl Iterator<Item = (&str, &Value, bool)> {
    let properties: Option<&Map<String, Value>> = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let place = move |name: &str| required.iter().position(|known| *known == name);
    let mut fields: Vec<_> = properties
        .into_iter()
        .flatten()
        .map(|(name, schema)| (place(name).unwrap_or(usize::MAX), name.as_str(), schema))
        .collect();
    fields.sort_by_key(|(place, name, _)| (*place, *name));
    fields.into_iter().map(|(place, name, schema)| (name, schema, place != usize::MAX))
}

fn default_text(property: &Value, required: bool) -> String {
    if required {
        return "must be given".into();
    }
    match (property.get("x-default").and_then(Value::as_str), property.get("default")) {
        (Some(words), _) => format!("default: {words}"),
        (None, Some(Value::Object(_))) | (None, None) => "may be left out".into(),
        (None, Some(value)) => format!("default {value}"),
    }
}

fn range_text(schema: &Value) -> String {
    let (least, most) = shape::bounds(schema);
    let is_written = schema.get("maximum").is_some() && most < i64::MAX as f64;
    match (least > 0.0, is_written) {
        (_, true) => format!(" from {least} to {most}"),
        (true, false) => format!(", at least {least}"),
        (false, false) => String::new(),
    }
}
