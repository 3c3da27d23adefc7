//! Interprets the schema: the fields of a table for a given value of its tag; types, bounds and names of values.

use serde_json::Value;

/// Example of an unrestricted text.
pub(crate) const ANY_TEXT: &str = "\"...\"";

/// The possible and required fields of a table.
#[derive(Default)]
pub(crate) struct Shape<'a> {
    pub properties: Vec<(&'a str, &'a Value)>,
    pub required: Vec<&'a str>,
    /// Former fields with their new spelling: pairs of `extend("x-moved" = ...)`.
    pub moved: Vec<&'a Value>,
    /// Tags that decide on more fields, but have a missing or unknown value.
    pub undecided: Vec<Undecided<'a>>,
}

/// A tag without a legal value.
pub(crate) struct Undecided<'a> {
    pub tag: &'a str,
    variants: Vec<(&'a str, &'a Value)>,
}

impl<'a> Undecided<'a> {
    /// The tag's legal values.
    pub(crate) fn names(&self) -> Vec<&'a str> {
        self.variants.iter().map(|(name, _)| *name).collect()
    }

    /// Returns the tag values of tables with all of `keys`, preferably with no other required keys; all legal values if
    /// none fits.
    pub(crate) fn names_with(&self, root: &'a Value, keys: &[&str]) -> Vec<&'a str> {
        let shape_of = |name: &str, variant: &'a Value| {
            Shape::of(root, variant, &|tag: &str| (tag == self.tag).then(|| name.to_string()))
        };
        let shapes = self.variants.iter().map(|(name, variant)| (*name, shape_of(name, variant)));
        let fitting: Vec<_> =
            shapes.filter(|(_, shape)| keys.iter().all(|key| shape.property(key).is_some())).collect();
        let is_complete =
            |shape: &Shape<'_>| shape.required.iter().all(|name| *name == self.tag || keys.contains(name));
        let complete: Vec<&str> =
            fitting.iter().filter(|(_, shape)| is_complete(shape)).map(|(name, _)| *name).collect();
        match (complete.is_empty(), fitting.is_empty()) {
            (false, _) => complete,
            (true, false) => fitting.into_iter().map(|(name, _)| name).collect(),
            (true, true) => self.names(),
        }
    }

    /// Returns the kind with `given` among the names of a field: "dctcp" is a congestion control of kind "tcp".
    pub(crate) fn choice_within(&self, root: &Value, given: &str) -> Option<String> {
        self.variants.iter().find_map(|(name, variant)| {
            let shape = Shape::of(root, variant, &|_| None);
            let takes = |schema: &Value| word(root, schema).is_some_and(|word| names(word).contains(&given));
            let (field, _) = shape.properties.into_iter().find(|(_, schema)| takes(schema))?;
            Some(format!("write {} = \"{name}\", {field} = \"{given}\"", self.tag))
        })
    }
}

impl<'a> Shape<'a> {
    /// Determines the shape of a table with `schema`; `chosen` returns the table's value for a tag.
    pub(crate) fn of(root: &'a Value, schema: &'a Value, chosen: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut shape = Self::default();
        shape.gather(root, schema, chosen);
        shape
    }

    /// The schema of the property `name`.
    pub(crate) fn property(&self, name: &str) -> Option<&'a Value> {
        self.properties.iter().find(|(known, _)| *known == name).map(|(_, schema)| *schema)
    }

    fn gather(&mut self, root: &'a Value, schema: &'a Value, chosen: &dyn Fn(&str) -> Option<String>) {
        let schema = resolve(root, schema);
        let properties = schema.get("properties").and_then(Value::as_object);
        self.properties.extend(properties.into_iter().flatten().map(|(name, schema)| (name.as_str(), schema)));
        self.required.extend(texts(schema.get("required")));
        self.moved.extend(schema.get("x-moved").and_then(Value::as_array).into_iter().flatten());
        let Some((tag, variants)) = tagged_variants(schema) else { return };
        let given = chosen(tag);
        match variants.iter().find(|(name, _)| Some(*name) == given.as_deref()) {
            Some((_, variant)) => self.gather(root, variant, chosen),
            None => {
                self.properties.push((tag, &Value::Bool(true)));
                if given.is_none() {
                    self.properties.retain(|(name, _)| *name != tag);
                    self.properties.extend(tag_property(variants[0].1, tag));
                    self.required.push(tag);
                }
                self.undecided.push(Undecided { tag, variants });
            }
        }
    }
}

fn texts(list: Option<&Value>) -> impl Iterator<Item = &str> {
    list.and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
}

fn tag_property<'a>(variant: &'a Value, tag: &str) -> Option<(&'a str, &'a Value)> {
    let (name, schema) = variant.get("properties")?.as_object()?.get_key_value(tag)?;
    Some((name, schema))
}

/// The tag of an internally tagged enum, and its variants by the tag's value.
pub(crate) fn tagged_variants(schema: &Value) -> Option<(&str, Vec<(&str, &Value)>)> {
    let variants = schema.get("oneOf")?.as_array()?;
    let properties = variants.first()?.get("properties")?.as_object()?;
    let tag = properties.iter().find(|(_, schema)| schema.get("const").is_some())?.0.as_str();
    let named = variants.iter().filter_map(|variant| {
        let name = variant.get("properties")?.get(tag)?.get("const")?.as_str()?;
        Some((name, variant))
    });
    Some((tag, named.collect()))
}

/// Follows references. For a table that can also be written as one word, the result is the table.
pub(crate) fn resolve<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let schema = follow(root, schema);
    match alternatives(schema).next() {
        Some(table) => resolve(root, table),
        None => schema,
    }
}

/// The schema of the word that can replace a table, if there is one.
pub(crate) fn word<'a>(root: &'a Value, schema: &'a Value) -> Option<&'a Value> {
    let choices = alternatives(follow(root, schema)).map(|choice| follow(root, choice));
    choices.into_iter().find(|choice| kind_of(choice) == "string")
}

fn alternatives(schema: &Value) -> impl Iterator<Item = &Value> {
    schema.get("anyOf").and_then(Value::as_array).into_iter().flatten()
}

fn follow<'a>(root: &'a Value, schema: &'a Value) -> &'a Value {
    let mut schema = schema;
    while let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let Some(target) = root.pointer(reference.trim_start_matches('#')) else { break };
        schema = target;
    }
    schema
}

/// The JSON type of a value; enumerations of names are strings, tagged enums are objects.
pub(crate) fn kind_of(schema: &Value) -> &str {
    match schema.get("type").and_then(Value::as_str) {
        Some(kind) => kind,
        None if tagged_variants(schema).is_some() => "object",
        None if !names(schema).is_empty() => "string",
        None => "",
    }
}

/// The legal values of an enumeration; empty for any other schema.
pub(crate) fn names(schema: &Value) -> Vec<&str> {
    let listed = texts(schema.get("enum"));
    let choices = schema.get("oneOf").and_then(Value::as_array).into_iter().flatten();
    let constants = choices.chain([schema]).filter_map(|choice| choice.get("const").and_then(Value::as_str));
    listed.chain(constants).collect()
}

/// Minimum and maximum of a number.
pub(crate) fn bounds(schema: &Value) -> (f64, f64) {
    let bound = |name: &str| schema.get(name).and_then(Value::as_f64);
    // TOML's integers are signed and have 64 bits; larger values cannot be written.
    let by_format = match schema.get("format").and_then(Value::as_str) {
        Some("uint64") => i64::MAX as f64,
        Some("uint32") => u32::MAX.into(),
        _ => f64::INFINITY,
    };
    (bound("minimum").unwrap_or(f64::NEG_INFINITY), bound("maximum").unwrap_or(by_format))
}

/// An example of a value as TOML, if one can be given.
pub(crate) fn example(root: &Value, schema: &Value) -> Option<String> {
    if let Some(example) = schema.get("examples").and_then(|examples| examples.get(0)) {
        return Some(example.to_string());
    }
    if let Some(name) = names(schema).first() {
        return Some(format!("\"{name}\""));
    }
    match kind_of(schema) {
        "object" => tag_example(schema).or_else(|| table_example(root, schema, None)),
        "string" => Some(ANY_TEXT.into()),
        "integer" | "number" => Some(schema.get("minimum").unwrap_or(&Value::from(1)).to_string()),
        _ => None,
    }
}

/// An example of a tagged enum: its first variant.
pub(crate) fn tag_example(schema: &Value) -> Option<String> {
    let (tag, variants) = tagged_variants(schema)?;
    Some(format!("{{ {tag} = \"{}\", ... }}", variants.first()?.0))
}

/// An example of a table with its required fields, one of them with a given value.
pub(crate) fn table_example(root: &Value, schema: &Value, given: Option<(&str, &str)>) -> Option<String> {
    let shape = Shape::of(root, schema, &|_| None);
    let value = |name: &str| match given {
        Some((field, value)) if field == name => Some(value.to_string()),
        _ => example(root, resolve(root, shape.property(name)?)),
    };
    let parts: Option<Vec<String>> =
        shape.required.iter().map(|name| Some(format!("{name} = {}", value(name)?))).collect();
    Some(format!("{{ {} }}", parts?.join(", ")))
}
