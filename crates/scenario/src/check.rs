//! From the text of a file to a [`Scenario`].

use std::path::Path;

use hitless_core::settings::document::Document;
use hitless_core::settings::{Finding, Problem, SettingsError, structure, without_byte_order_mark};

use crate::kind::{Registry, Surroundings};
use crate::memory::Limit;
use crate::network::link::read_failures;
use crate::network::loss::LossModel;
use crate::network::routing::PathRule;
use crate::{Purpose, Scenario, cross, defaults, memory, resources};

/// Reads a scenario for a simulation, as [`check_for`] does, without a memory limit.
pub fn check(text: &str, file_name: &str, registry: &Registry) -> Result<Scenario, SettingsError> {
    check_for(text, file_name, Purpose::Simulation, registry, None)
}

/// Reads a scenario and checks everything that can be checked before it runs.
///
/// `file_name` is used in messages, and paths in the scenario are relative to its folder. `registry` holds the
/// available kinds of mechanisms. A scenario that would exceed the memory `limit` is refused.
pub fn check_for(
    text: &str,
    file_name: &str,
    purpose: Purpose,
    registry: &Registry,
    limit: Option<Limit>,
) -> Result<Scenario, SettingsError> {
    let fail = |mut findings: Vec<Finding>| {
        findings.sort_by_key(|finding| (finding.line, finding.column));
        Err(SettingsError { file: file_name.to_string(), findings })
    };
    let text = without_byte_order_mark(text);
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(findings) => return fail(findings),
    };
    let findings = structure::check(&document, registry.schema());
    if !findings.is_empty() {
        return fail(findings);
    }
    let mut scenario = match read(&document, registry) {
        Ok(scenario) => scenario,
        Err(message) => return fail(vec![Finding::at(&document.lines, 0..0, Problem::new("", "", message))]),
    };
    scenario.folder = Path::new(file_name).parent().unwrap_or(Path::new("")).to_path_buf();
    if let Some(problem) = limit.and_then(|limit| memory::of_fabric(&scenario, limit.execution).beyond(limit.bytes)) {
        return fail(vec![locate(&document, problem)]);
    }
    let mut problems = loss_traces(&mut scenario);
    problems.extend(failures(&mut scenario));
    let mut scenario = resolve(scenario);
    problems.extend(cross::check(&scenario, purpose));
    if problems.is_empty() && scenario.switch.checked && purpose != Purpose::Survey {
        problems.extend(resources::check(&scenario));
    }
    if problems.is_empty() && purpose == Purpose::Simulation {
        problems.extend(limit.and_then(|limit| beyond(&scenario, limit)));
    }
    if problems.is_empty() {
        scenario.failures.iter_mut().for_each(|failure| failure.line = None);
        return Ok(scenario);
    }
    fail(problems.into_iter().map(|problem| locate(&document, problem)).collect())
}

/// Reports the part of a valid scenario that takes too much memory.
fn beyond(scenario: &Scenario, limit: Limit) -> Option<Problem> {
    memory::of_run(scenario, &scenario.build_topology().ok()?, limit.execution).beyond(limit.bytes)
}

fn read(document: &Document<'_>, registry: &Registry) -> Result<Scenario, String> {
    let mut table = document.table()?;
    defaults::fill(&mut table, registry);
    let mechanisms = registry.read(table.remove("mechanism"))?;
    let read = || table.try_into().map_err(|error: toml::de::Error| error.message().to_string());
    let scenario: Scenario = registry.reading(read)?;
    Ok(Scenario { mechanisms, ..scenario })
}

/// Fills in values that follow from other sections, such as an expected loss rate or delays.
fn resolve(mut scenario: Scenario) -> Scenario {
    let Ok(topology) = scenario.fabric() else { return scenario };
    if scenario.routing.choice == PathRule::Flowlets && scenario.routing.flowlet_gap.is_none() {
        scenario.routing.flowlet_gap = scenario.longest_round_trip(&topology);
    }
    let mut mechanisms = std::mem::take(&mut scenario.mechanisms);
    let around = Surroundings { scenario: &scenario, topology: &topology };
    mechanisms.iter_mut().for_each(|entry| entry.resolve(around));
    Scenario { mechanisms, ..scenario }
}

fn locate(document: &Document<'_>, mut problem: Problem) -> Finding {
    let span = document.locate(&problem.field);
    if problem.value.is_empty() {
        problem.value = document.written(span.clone()).to_string();
    }
    Finding::at(&document.lines, span, problem)
}

/// Appends the failures in the file to the scenario's failures; reports an unreadable file.
fn failures(scenario: &mut Scenario) -> Option<Problem> {
    let file = scenario.failure_file.take()?;
    match read_failures(&scenario.folder, &file) {
        Ok(failures) if failures.is_empty() => scenario.warnings.push(format!("failure_file: {file} lists no failure")),
        Ok(failures) => scenario.failures.extend(failures),
        Err(rule) => return Some(Problem::new("failure_file", "", rule)),
    }
    None
}

/// Reads the loss traces; reports unreadable ones.
fn loss_traces(scenario: &mut Scenario) -> Vec<Problem> {
    let mut problems = Vec::new();
    for (index, link) in scenario.links.iter_mut().enumerate() {
        let of_start = (format!("link[{index}].loss"), &mut link.loss);
        let field_of = |number| format!("link[{index}].changes[{number}].loss");
        let of_changes = link.changes.iter_mut().enumerate();
        let of_changes = of_changes.filter_map(|(n, change)| Some((field_of(n), change.loss.as_mut()?)));
        for (field, model) in std::iter::once(of_start).chain(of_changes) {
            let LossModel::Trace(loss) = model else { continue };
            let read = loss.read(&scenario.folder);
            problems.extend(read.err().map(|(name, rule)| Problem::new(format!("{field}.{name}"), "", rule)));
        }
    }
    problems
}
