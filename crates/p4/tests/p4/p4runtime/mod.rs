//! The control plane in P4Runtime's text format: accepted and refused requests.
//!
//! everything.p4 has one object of each kind that can be written; p4c wrote its JSON, and its p4info has p4c's form.

mod same;
mod text;
mod written;
mod wrong;

use std::sync::Arc;

use hitless_p4::commands::Commands;
use hitless_p4::error::Result;
use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::program::Program;
use hitless_p4::state::State;

const PROGRAM: &str = include_str!("everything.json");
const INFO: &str = include_str!("everything.p4info.txtpb");

/// Replaces names by the numbers of everything.p4info.txtpb, so that tests are readable: `$acl` is the table acl.
pub fn numbered(text: &str) -> String {
    let mut names: Vec<(&str, &str)> = Vec::new();
    let lines: Vec<_> = INFO.lines().map(str::trim).collect();
    for of in lines.windows(3) {
        let [id, _, alias] = of else { continue };
        if let (Some(id), Some(alias)) = (id.strip_prefix("id: "), alias.strip_prefix("alias: ")) {
            names.push((alias.trim_matches('"'), id));
        }
    }
    // Longest names first, since `$counted` is a prefix of `$counted_by_entry`.
    names.sort_by_key(|(name, _)| std::cmp::Reverse(name.len()));
    names.iter().fold(text.to_string(), |text, (name, id)| text.replace(&format!("${name}"), id))
}

/// The state after the updates in `text`, one per line.
pub fn written(updates: &str) -> Result<(Arc<Program>, State)> {
    let lines = numbered(updates);
    let lines = lines.lines().map(str::trim).filter(|line| !line.is_empty());
    let text: String = lines.map(|line| format!("updates {{ {line} }}\n")).collect();
    apply(&text)
}

pub fn apply(request: &str) -> Result<(Arc<Program>, State)> {
    let program = Arc::new(Program::load(PROGRAM).expect("the program is whole"));
    let info = P4Info::load(INFO, "everything.p4info.txtpb", &program)?;
    let mut state = State::new(&program, 1);
    let commands = Commands { program: &program, state: &mut state, now_ns: 0 };
    Request::read(request, "entries.txtpb")?.apply(&info, commands)?;
    Ok((program, state))
}
