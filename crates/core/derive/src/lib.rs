//! `#[derive(hitless_core::state::Value)]`: writes and reads a type of values, field by field in the order of its
//! declaration. `#[derive(hitless_core::state::State)]`: a type is built from a scenario, and a checkpoint has
//! the fields that have changed.
//!
//! Both read names only, and a declaration has few forms: no parser of Rust is needed.

use std::fmt::Display;

use proc_macro::{Delimiter, TokenStream, TokenTree};

const STATE: &str = "::hitless_core::state";

/// Implements `hitless_core::state::Value` for a struct or an enum with values in all fields.
#[proc_macro_derive(Value)]
pub fn value(item: TokenStream) -> TokenStream {
    let tokens = without_attributes(item.into_iter().collect());
    let name = tokens[1].to_string();
    let (write, read) = match tokens[0].to_string().as_str() {
        "struct" => of_struct(&Fields::of(body(&tokens))),
        "enum" => of_enum(&name, &parts(body(&tokens))),
        other => panic!("a {other} is no value"),
    };
    let Generics { declared, named, names } = generics(&tokens[2..]);
    let bounds: String = names.iter().map(|name| format!("{name}: {STATE}::Value,")).collect();
    format!(
        "#[automatically_derived] impl{declared} {STATE}::Value for {name}{named} where {bounds} {{
            fn write(&self, state_writer: &mut {STATE}::Writer) {{
                {write}
            }}
            fn read(state_reader: &mut {STATE}::Reader<'_>) -> Result<Self, {STATE}::Damaged> {{
                {read}
            }}
        }}"
    )
    .parse()
    .expect("what is written here is Rust")
}

/// Implements `hitless_core::state::State` for a struct or an enum; `hitless_core::state` says how.
#[proc_macro_derive(State, attributes(configured, part))]
pub fn state(item: TokenStream) -> TokenStream {
    let tokens = without_attributes(item.into_iter().collect());
    let name = tokens[1].to_string();
    let Generics { declared, named, names } = generics(&tokens[2..]);
    let (save, load, bounds) = match tokens[0].to_string().as_str() {
        "struct" => state_of_struct(body(&tokens), &names),
        "enum" => state_of_enum(&name, &parts(body(&tokens))),
        other => panic!("a {other} is no state"),
    };
    format!(
        "#[automatically_derived] impl{declared} {STATE}::State for {name}{named} where {bounds} {{
            fn save(&self, state_writer: &mut {STATE}::Writer) {{
                {save}
            }}
            fn load(&mut self, state_reader: &mut {STATE}::Reader<'_>) -> Result<(), {STATE}::Damaged> {{
                {load}
                Ok(())
            }}
        }}"
    )
    .parse()
    .expect("what is written here is Rust")
}

/// Returns how to save and load a struct, and bounds for its generic fields.
fn state_of_struct(fields: Option<&TokenTree>, generics: &[String]) -> (String, String, String) {
    let Some(TokenTree::Group(group)) = fields else { panic!("a state has fields") };
    let [mut pattern, mut save, mut load, mut bounds] = [const { String::new() }; 4];
    for field in split(group.stream()) {
        let is = |sort: &str| field.iter().any(|token| token.to_string() == format!("[{sort}]"));
        let (is_configured, is_part) = (is("configured"), is("part"));
        let field = without_attributes(field);
        let name = &field[0];
        if is_configured {
            pattern += &format!("{name}: _, ");
            continue;
        }
        pattern += &format!("{name}, ");
        save += &if is_part { part_save(name) } else { format!("state_writer.value({name});") };
        load += &if is_part { part_load(name) } else { format!("*{name} = state_reader.value()?;") };
        let of = field[2..].iter().cloned().collect::<TokenStream>().to_string();
        let mut words = of.split(|sign: char| !sign.is_alphanumeric() && sign != '_');
        if words.any(|word| generics.iter().any(|name| name == word)) {
            bounds += &format!("{of}: {STATE}::{},", if is_part { "State" } else { "Value" });
        }
    }
    let apart = format!("let Self {{ {pattern} }} = self;");
    (format!("{apart} {save}"), format!("{apart} {load}"), bounds)
}

/// Returns how to save and load an enum.
fn state_of_enum(name: &str, variants: &[Vec<TokenTree>]) -> (String, String, String) {
    let [mut saves, mut loads] = [const { String::new() }; 2];
    for (tag, variant) in variants.iter().enumerate() {
        let (Fields { names, pattern }, variant) = (Fields::of(variant.get(1)), &variant[0]);
        let save: String = names.iter().map(part_save).collect();
        let load: String = names.iter().map(part_load).collect();
        saves += &format!("Self::{variant} {pattern} => {{ state_writer.value(&{tag}_u8); {save} }}");
        loads += &format!("(Self::{variant} {pattern}, {tag}) => {{ {load} }}");
    }
    let damaged = format!("_ => return Err(state_reader.damaged(\"the {name} that was built\"))");
    let load = format!("let tag: u8 = state_reader.value()?; match (self, tag) {{ {loads} {damaged} }}");
    (format!("match self {{ {saves} }}"), load, String::new())
}

fn part_save(name: impl Display) -> String {
    format!("{STATE}::State::save({name}, state_writer);")
}

fn part_load(name: impl Display) -> String {
    format!("{STATE}::State::load({name}, state_reader)?;")
}

/// The fields of a struct or a variant; a tuple's get made-up names.
struct Fields {
    names: Vec<String>,
    /// The text after the type's name that destructures and constructs it.
    pattern: String,
}

impl Fields {
    fn of(body: Option<&TokenTree>) -> Self {
        let parts = parts(body);
        let Some(TokenTree::Group(group)) = body else { return Self { names: Vec::new(), pattern: String::new() } };
        if group.delimiter() == Delimiter::Brace {
            let names: Vec<String> = parts.into_iter().map(|part| part[0].to_string()).collect();
            let pattern = format!("{{ {} }}", names.join(", "));
            return Self { names, pattern };
        }
        let names: Vec<String> = (0..parts.len()).map(|place| format!("place{place}")).collect();
        let pattern = format!("({})", names.join(", "));
        Self { names, pattern }
    }

    fn writes(&self) -> String {
        self.names.iter().map(|name| format!("state_writer.value({name});")).collect()
    }

    fn reads(&self) -> String {
        self.names.iter().map(|name| format!("let {name} = state_reader.value()?;")).collect()
    }
}

fn of_struct(fields: &Fields) -> (String, String) {
    let pattern = &fields.pattern;
    (format!("let Self {pattern} = self; {}", fields.writes()), format!("{} Ok(Self {pattern})", fields.reads()))
}

/// Writes a variant as its index, followed by its fields.
fn of_enum(name: &str, variants: &[Vec<TokenTree>]) -> (String, String) {
    let (mut writes, mut reads) = (String::new(), String::new());
    for (tag, variant) in variants.iter().enumerate() {
        let (fields, name) = (Fields::of(variant.get(1)), &variant[0]);
        let pattern = &fields.pattern;
        writes += &format!("Self::{name} {pattern} => {{ state_writer.value(&{tag}_u8); {} }}", fields.writes());
        reads += &format!("{tag} => {{ {} Ok(Self::{name} {pattern}) }}", fields.reads());
    }
    let damaged = format!("_ => Err(state_reader.damaged(\"a variant of {name}\"))");
    (format!("match self {{ {writes} }}"), format!("match state_reader.value::<u8>()? {{ {reads} {damaged} }}"))
}

/// The fields or variants between a pair of brackets, each without its attributes and visibility.
fn parts(body: Option<&TokenTree>) -> Vec<Vec<TokenTree>> {
    let Some(TokenTree::Group(group)) = body else { return Vec::new() };
    split(group.stream()).into_iter().map(without_attributes).collect()
}

/// Splits at commas that are not between angle brackets.
fn split(tokens: impl IntoIterator<Item = TokenTree>) -> Vec<Vec<TokenTree>> {
    let (mut parts, mut depth) = (vec![Vec::new()], 0);
    for token in tokens {
        match token.to_string().as_str() {
            "<" => depth += 1,
            ">" => depth -= 1,
            "," if depth == 0 => {
                parts.push(Vec::new());
                continue;
            }
            _ => {}
        }
        parts.last_mut().expect("there is one from the start").push(token);
    }
    parts.retain(|part| !part.is_empty());
    parts
}

fn without_attributes(mut tokens: Vec<TokenTree>) -> Vec<TokenTree> {
    while tokens[0].to_string() == "#" {
        tokens.drain(..2);
    }
    // A visibility that a macro has passed on is a group without brackets.
    if matches!(&tokens[0], TokenTree::Group(group) if group.delimiter() == Delimiter::None) {
        tokens.remove(0);
    }
    if tokens[0].to_string() == "pub" {
        let is_restricted = matches!(&tokens[1], TokenTree::Group(_)) && tokens.len() > 2;
        tokens.drain(..if is_restricted { 2 } else { 1 });
    }
    tokens
}

/// The brackets at the end of a declaration.
fn body(tokens: &[TokenTree]) -> Option<&TokenTree> {
    tokens.iter().rfind(|token| matches!(token, TokenTree::Group(_)))
}

/// The parameters of a type.
#[derive(Default)]
struct Generics {
    /// With their bounds, as an `impl` declares them.
    declared: String,
    /// Without their bounds, as they follow the name of the type.
    named: String,
    names: Vec<String>,
}

fn generics(tokens: &[TokenTree]) -> Generics {
    if tokens.first().is_none_or(|token| token.to_string() != "<") {
        return Generics::default();
    }
    let end = tokens.iter().position(|token| token.to_string() == ">").expect("what opens closes");
    let parameters = split(tokens[1..end].iter().cloned());
    let names: Vec<String> = parameters.iter().map(|parameter| parameter[0].to_string()).collect();
    let declared = tokens[..=end].iter().cloned().collect::<TokenStream>().to_string();
    Generics { declared, named: format!("<{}>", names.join(", ")), names }
}
