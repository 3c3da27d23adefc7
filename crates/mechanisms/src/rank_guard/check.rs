//! Whether there is something to guard, and whether it can be told who lies.

use hitless_network::topology::Topology;
use hitless_network::topology::select::select_ports;
use hitless_scenario::Check;
use hitless_settings::Problem;

use super::settings::RankGuardSettings;

/// Reports what of one entry cannot be meant.
pub fn check_entry(settings: &RankGuardSettings, topology: &Topology, section: &str, check: &mut Check<'_>) {
    let field = format!("{section}.ports");
    let before = check.found();
    for (number, name) in settings.ports.iter().enumerate() {
        let rule = select_ports(topology, name).err();
        check.report_all(rule.map(|rule| Problem::new(format!("{field}[{number}]"), "", rule)));
    }
    let guards = !settings.ports_by_switch(topology).is_empty();
    let rule = "has no port by which packets of a host come in";
    check.require(guards || check.found() > before, &field, rule);
    let fixed = check.scenario.flows.iter().position(|group| group.rank.is_some());
    check.require_else(fixed.is_none(), || {
        let rule = "a rank guard takes the first rank of a flow for the bytes that it promises, and this one is fixed";
        Problem::new(format!("flows[{}].rank", fixed.unwrap_or(0)), "", rule)
    });
}
