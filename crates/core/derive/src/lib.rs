//! `#[derive(hitless_core::state::Value)]`: writes and reads a type field by field, in the order of declaration.
//!
//! The macro reads only names, and a declaration has few forms, so it needs no Rust parser and its compile time.

use proc_macro::{Delimiter, TokenStream, TokenTree};

/// Implements `hitless_core::state::Value` for a struct or an enum if all its fields are values.
#[proc_macro_derive(Value)]
pub fn value(item: TokenStream) -> TokenStream {
    let tokens = without_attributes(item.into_iter().collect());
    let name = tokens[1].to_string();
    let body = tokens.iter().rfind(|token| matches!(token, TokenTree::Group(_)));
    let (write, read) = match tokens[0].to_string().as_str() {
        "struct" => of_struct(&Fields::of(body)),
        "enum" => of_enum(&name, &parts(body)),
        other => panic!("a {other} is no value"),
    };
    let (generics, parameters, bounds) = generics(&tokens[2..]);
    let state = "::hitless_core::state";
    format!(
        "#[automatically_derived] impl{generics} {state}::Value for {name}{parameters} where {bounds} {{
            fn write(&self, state_writer: &mut {state}::Writer) {{
                {write}
            }}
            fn read(state_reader: &mut {state}::Reader<'_>) -> Result<Self, {state}::Damaged> {{
                {read}
            }}
        }}"
    )
    .parse()
    .expect("what is written here is Rust")
}

/// The contents of a struct or a variant: the names of its fields (generated for tuple fields).
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
    if tokens[0].to_string() == "pub" {
        let is_restricted = matches!(&tokens[1], TokenTree::Group(_)) && tokens.len() > 2;
        tokens.drain(..if is_restricted { 2 } else { 1 });
    }
    tokens
}

/// The parameters of a type: as declared, as used, and the bounds that make each a value.
fn generics(tokens: &[TokenTree]) -> (String, String, String) {
    if tokens.first().is_none_or(|token| token.to_string() != "<") {
        return (String::new(), String::new(), String::new());
    }
    let end = tokens.iter().position(|token| token.to_string() == ">").expect("what opens closes");
    let declared = split(tokens[1..end].iter().cloned());
    let names: Vec<String> = declared.iter().map(|parameter| parameter[0].to_string()).collect();
    let bounds = names.iter().map(|name| format!("{name}: ::hitless_core::state::Value,")).collect();
    let text: TokenStream = tokens[..=end].iter().cloned().collect();
    (text.to_string(), format!("<{}>", names.join(", ")), bounds)
}
