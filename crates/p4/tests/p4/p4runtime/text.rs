//! The text format of protocol buffers.

use hitless_p4::p4runtime::text::{Field, Value, parse};
use proptest::prelude::*;

fn bytes(text: &str) -> Vec<u8> {
    let fields = parse(&format!("a: {text}"), "f").unwrap_or_else(|error| panic!("{text}: {error}"));
    let [Field { value: Value::Bytes(bytes), .. }] = &fields[..] else { panic!("{text}: {fields:?}") };
    bytes.clone()
}

#[test]
fn strings_are_as_their_escapes_say() {
    let cases: [(&str, &[u8]); 14] = [
        (r#""\x0a\x00\1\012\377""#, &[10, 0, 1, 10, 255]),
        (r#""\0012""#, b"\x01\x32"),
        (r#""\xa""#, &[10]),
        (r#""\xabc""#, b"\xabc"),
        (r#"'it''s'"#, b"its"),
        ("\"one\" # a remark\n 'two'", b"onetwo"),
        (r#""\n\r\t\"\'\\\?\a\b\f\v""#, b"\n\r\t\"'\\?\x07\x08\x0c\x0b"),
        (r#"'"'"#, b"\""),
        ("\"\"", b""),
        (r#""\u00e9\U0001f600""#, "\u{e9}\u{1f600}".as_bytes()),
        ("\"\u{e9}\"", "\u{e9}".as_bytes()),
        ("\"# no remark\"", b"# no remark"),
        (r#""a" "b" "c""#, b"abc"),
        (r#""\x00\x00\x63""#, &[0, 0, 0x63]),
    ];
    for (text, expected) in cases {
        assert_eq!(bytes(text), expected, "{text}");
    }
}

fn word(name: &str, line: u32, word: &str) -> Field {
    Field { name: name.into(), line, value: Value::Word(word.into()) }
}

#[test]
fn all_ways_to_write_a_message_are_read_with_their_lines() {
    let expected = [
        word("a", 2, "1"),
        Field { name: "b".into(), line: 3, value: Value::Message(vec![word("c", 3, "-2"), word("d", 4, "TRUE")]) },
        Field { name: "b".into(), line: 6, value: Value::Message(vec![]) },
        word("e", 7, "1.5e+3"),
        word("e", 8, "0x1f"),
    ];
    for text in [
        "\na: 1\nb { c: -2\nd: TRUE }\n\nb { }\ne: [1.5e+3,\n0x1f]\n",
        "# x\na:1,\nb:<c:- 2;\nd:TRUE>,\n\nb:{};\ne:[1.5e+3,\n0x1f],",
        "\na : 1 ;\nb { c: -2,\nd: TRUE }\n\nb < >\ne: 1.5e+3\ne: 0x1f # the end",
    ] {
        let fields = parse(text, "f").unwrap();
        assert_eq!(fields, expected, "{text}");
    }
    assert_eq!(parse("a: []", "f"), Ok(vec![]));
    let any = parse("o { [type.example.com/p4.Extra] { a: 1 } }", "f").unwrap();
    assert!(matches!(&any[0].value, Value::Message(of) if of[0].name == "[type.example.com/p4.Extra]"));
}

#[test]
fn what_is_no_text_format_is_refused_with_its_line() {
    let cases = [
        ("a", "f:1: the field a has no value: \":\" or \"{\" is due, and the end of the file is found"),
        ("\na: {", "f:2: the file ends before a message does: \"}\" is missing"),
        ("a { b: 1 >", "f:1: the name of a field is due, and \">\" is found"),
        ("a: \"x\ny\"", "f:1: a string does not end in its line: \" is missing"),
        ("a: \"\\q\"", "f:1: \"\\q\" is no escape"),
        ("a: \"\\x\"", "f:1: \\x has no hexadecimal digit behind it"),
        ("a: \"\\777\"", "f:1: an octal escape is more than \\377"),
        ("a: \"\\ud800\"", "f:1: \\u needs 4 hexadecimal digits that are a character"),
        ("a: \"\\u12\"", "f:1: \\u needs 4 hexadecimal digits that are a character"),
        ("a: [1 2]", "f:1: the list of a has \"2\", where \",\" or \"]\" is due"),
        ("a: 1\n\n7: 2", "f:3: the name of a field is due, and \"7\" is found"),
        ("a: 1 }", "f:1: the name of a field is due, and \"}\" is found"),
        ("[a: 1", "f:1: \"[\" begins the name of an extension, and \"]\" is missing in this line"),
        ("a: ,", "f:1: the field a has no value: \",\" is found"),
    ];
    for (text, expected) in cases {
        assert_eq!(parse(text, "f").expect_err(text).to_string(), expected, "{text}");
    }
    let deep = "a {".repeat(5_000);
    assert!(parse(&deep, "f").expect_err("it is too deep").what.contains("nested more than 100 deep"));
}

/// Messages as printed by protocol buffers.
fn messages() -> impl Strategy<Value = Vec<(String, Tree)>> {
    let name = "[a-z_][a-z0-9_]{0,8}";
    let leaf = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..12).prop_map(Tree::Bytes),
        any::<i64>().prop_map(Tree::Number)
    ];
    let value = leaf.prop_recursive(4, 24, 5, move |inner| {
        prop::collection::vec((name.prop_map(String::from), inner), 0..5).prop_map(Tree::Message)
    });
    prop::collection::vec((name.prop_map(String::from), value), 0..6)
}

#[derive(Clone, Debug)]
enum Tree {
    Bytes(Vec<u8>),
    Number(i64),
    Message(Vec<(String, Tree)>),
}

fn print(fields: &[(String, Tree)], deep: usize, text: &mut String) {
    for (name, value) in fields {
        *text += &format!("{:1$}{name}", "", 2 * deep);
        match value {
            Tree::Number(number) => *text += &format!(": {number}\n"),
            Tree::Message(fields) => {
                *text += " {\n";
                print(fields, deep + 1, text);
                *text += &format!("{:1$}}}\n", "", 2 * deep);
            }
            Tree::Bytes(bytes) => {
                let shown = bytes.iter().map(|byte| match byte {
                    b'"' | b'\\' => format!("\\{}", *byte as char),
                    0x20..0x7f => (*byte as char).to_string(),
                    _ => format!("\\{byte:03o}"),
                });
                *text += &format!(": \"{}\"\n", shown.collect::<String>());
            }
        }
    }
}

fn is_same(fields: &[Field], trees: &[(String, Tree)]) -> bool {
    let mut pairs = fields.iter().zip(trees);
    fields.len() == trees.len()
        && pairs.all(|(field, (name, tree))| {
            let same_value = match (&field.value, tree) {
                (Value::Bytes(bytes), Tree::Bytes(of)) => bytes == of,
                (Value::Word(word), Tree::Number(number)) => *word == number.to_string(),
                (Value::Message(fields), Tree::Message(trees)) => is_same(fields, trees),
                _ => false,
            };
            field.name == *name && same_value
        })
}

proptest! {
    #[test]
    fn what_is_printed_is_read_again(tree in messages()) {
        let mut text = String::new();
        print(&tree, 0, &mut text);
        let fields = parse(&text, "f");
        prop_assert!(fields.as_ref().is_ok_and(|fields| is_same(fields, &tree)), "{text}\n{fields:?}");
        let lines = fields.unwrap().iter().all(|field| {
            text.lines().nth(field.line as usize - 1).is_some_and(|line| line.starts_with(&field.name))
        });
        prop_assert!(lines, "the line of each field is that of its name");
    }

    #[test]
    fn any_text_is_a_message_or_refused(text in "[ab:{}<>\\[\\]\"'\\\\x0-9,;#\\-\n\u{e9} ]{0,60}") {
        if let Err(error) = parse(&text, "f") {
            prop_assert!(error.place.is_some_and(|place| place.starts_with("f:")));
        }
    }
}
