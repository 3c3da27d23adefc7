//! Whether a link can have Wharf.

use hitless_scenario::Check;
use hitless_scenario::kind::Surroundings;
use hitless_wire::Duration;

use super::settings::WharfSettings;

/// Reports what of one entry cannot be meant.
pub fn check_entry(settings: &WharfSettings, around: Surroundings<'_>, section: &str, check: &mut Check<'_>) {
    let field = |name: &str| format!("{section}.{name}");
    if check.link_between_switches(around.topology, &settings.link, "Wharf", &field("link")).is_none() {
        return;
    }
    let why = "its coder is there for real frames, and the live data path does not use it yet";
    check.runs_in_simulations_only("Wharf", why, section);
    check.require(settings.flush_after > Duration::ZERO, &field("flush_after"), "must be above zero");
}
