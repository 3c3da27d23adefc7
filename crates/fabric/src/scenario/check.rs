//! The way from text to [`Scenario`].

use std::path::Path;

use toml::Table;

use super::document::{Document, SyntaxError};
use super::error::{Finding, Problem, ScenarioError};
use super::{MechanismSettings, Scenario, budget, cross, defaults, schema, structure};

/// What a scenario is read for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Purpose {
    /// A simulation: its flows send, and it has an end.
    Simulation,
    /// A live run: real programs send, and somebody ends it.
    Live,
    /// None: somebody asks what its mechanisms take of a switch, also when that is more than there is.
    Survey,
}

/// Reads a scenario for a simulation, as [`check_for`] does.
///
/// # Errors
/// All that is wrong with it.
pub fn check(text: &str, file_name: &str) -> Result<Scenario, ScenarioError> {
    check_for(text, file_name, Purpose::Simulation)
}

/// Reads a scenario and checks everything that can be checked before it runs.
///
/// `file_name` is used in messages, and its folder is what paths in the scenario are relative to.
///
/// # Errors
/// All that is wrong with it.
pub fn check_for(text: &str, file_name: &str, purpose: Purpose) -> Result<Scenario, ScenarioError> {
    let fail = |mut findings: Vec<Finding>| {
        findings.sort_by_key(|finding| (finding.line, finding.column));
        Err(ScenarioError { file: file_name.to_string(), findings })
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(errors) => return fail(errors.into_iter().map(|error| syntax_finding(text, error)).collect()),
    };
    let findings = structure::check(&document, schema());
    if !findings.is_empty() {
        return fail(findings);
    }
    let mut scenario = match read(text) {
        Ok(scenario) => with_folder(scenario, file_name),
        Err(message) => return fail(vec![Finding::at(text, 0..0, Problem::new("", "", message))]),
    };
    let mut problems = scenario.read_loss_traces();
    let scenario = resolve(scenario);
    problems.extend(cross::check(&scenario, purpose));
    if problems.is_empty() && scenario.switch.checked && purpose != Purpose::Survey {
        problems.extend(budget::check(&scenario));
    }
    if problems.is_empty() {
        return Ok(scenario);
    }
    fail(problems.into_iter().map(|problem| locate(&document, problem)).collect())
}

fn syntax_finding(text: &str, error: SyntaxError) -> Finding {
    Finding::at(text, error.span, Problem::new("", "", format!("not valid TOML: {}", error.message)))
}

fn read(text: &str) -> Result<Scenario, String> {
    let mut table: Table = text.parse().map_err(|error: toml::de::Error| error.message().to_string())?;
    defaults::fill(&mut table);
    table.try_into().map_err(|error: toml::de::Error| error.message().to_string())
}

/// Fills in what follows from other sections: the loss rate that LinkGuardian is to expect, SQR's delays.
fn resolve(mut scenario: Scenario) -> Scenario {
    let Ok(topology) = scenario.topology.build() else { return scenario };
    let mut mechanisms = std::mem::take(&mut scenario.mechanisms);
    for mechanism in &mut mechanisms {
        match mechanism {
            MechanismSettings::LinkGuardian(settings) => settings.fill_in(&scenario, &topology),
            MechanismSettings::Sqr(settings) => settings.fill_in(&scenario, &topology),
            MechanismSettings::Rimm(settings) => settings.fill_in(&scenario, &topology),
            MechanismSettings::LinkLayerRetry(_) | MechanismSettings::Wharf(_) => {}
            MechanismSettings::Afq(_) | MechanismSettings::Dibs(_) | MechanismSettings::Vertigo(_) => {}
            MechanismSettings::SimpleDeflection(_) | MechanismSettings::PreemptiveDeflection(_) => {}
            MechanismSettings::Aifo(_) | MechanismSettings::Pabo(_) | MechanismSettings::RankGuard(_) => {}
            MechanismSettings::Trimming(_) | MechanismSettings::Bolt(_) => {}
        }
    }
    Scenario { mechanisms, ..scenario }
}

fn with_folder(scenario: Scenario, file_name: &str) -> Scenario {
    let folder = Path::new(file_name).parent().unwrap_or(Path::new("")).to_path_buf();
    Scenario { folder, ..scenario }
}

fn locate(document: &Document<'_>, mut problem: Problem) -> Finding {
    let span = document.locate(&problem.field);
    if problem.value.is_empty() {
        problem.value = document.written(span.clone()).to_string();
    }
    Finding::at(document.text, span, problem)
}
