//! Congestion controls from outside the tree.

use hitless_core::engine::Progress;
use hitless_core::wire::Duration;
use hitless_hosts::transport::tcp::congestion::{
    AckEvent, AckSample, AdditiveIncrease, Behaviour, CongestionControl, CongestionSign, OwnCongestion, Window,
};
use hitless_scenario::Scenario;
use hitless_scenario::kind::Registry;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::checkpoints::goes_on;
use crate::support;

/// NewReno again, with its factor as a setting.
#[derive(Clone, Debug, Default, hitless_core::state::Value)]
struct Twin {
    avoidance: AdditiveIncrease,
    divisor: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct TwinSettings {
    /// Divisor of the window after a loss.
    #[schemars(range(min = 1))]
    divisor: u64,
}

impl Default for TwinSettings {
    fn default() -> Self {
        Self { divisor: 2 }
    }
}

impl OwnCongestion for Twin {
    const NAME: &'static str = "twin";
    const SUMMARY: &'static str = "NewReno again.";

    type Settings = TwinSettings;

    fn new(settings: &TwinSettings, _window: &Window) -> Self {
        Self { divisor: settings.divisor, ..Self::default() }
    }

    fn check(settings: &TwinSettings) -> Vec<(String, String)> {
        let wrong = settings.divisor == 7;
        wrong.then(|| ("divisor".into(), "must not be seven".into())).into_iter().collect()
    }
}

impl CongestionControl for Twin {
    fn increase(&mut self, window: &mut Window, event: &AckEvent) {
        let bytes = event.delivered_bytes;
        let left = if window.in_slow_start() { window.slow_start(bytes) } else { bytes };
        self.avoidance.grow(window, left);
    }

    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        window.clamp_ssthresh(window.cwnd_bytes / self.divisor)
    }
}

/// Sets a constant window, and counts acknowledgements.
#[derive(Clone, Debug, hitless_core::state::Value)]
struct Constant {
    segments: u64,
    acknowledgements: u64,
}

#[derive(Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct ConstantSettings {
    /// The window.
    segments: u64,
}

impl OwnCongestion for Constant {
    const NAME: &'static str = "constant";
    const SUMMARY: &'static str = "A constant window.";
    const BEHAVIOUR: Behaviour = Behaviour::SETS;

    type Settings = ConstantSettings;

    fn new(settings: &ConstantSettings, _window: &Window) -> Self {
        Self { segments: settings.segments, acknowledgements: 0 }
    }
}

impl CongestionControl for Constant {
    fn increase(&mut self, _window: &mut Window, _event: &AckEvent) {}

    fn ssthresh(&mut self, window: &Window, _sign: CongestionSign) -> u64 {
        window.ssthresh_bytes
    }

    fn on_ack_sample(&mut self, window: &mut Window, event: &AckSample) {
        assert!(event.smoothed_rtt > Some(Duration::ZERO));
        self.acknowledgements += 1;
        window.cwnd_bytes = self.segments * window.mss_bytes;
    }
}

fn check(congestion: &str) -> Result<Scenario, String> {
    let registry = Registry::new().with_congestion::<Twin>().with_congestion::<Constant>();
    let (fabric, switch) = (support::dumbbell(2, "1 us", "5 us"), support::ideal("60 KB"));
    let text = format!(
        "name = \"own\"\nduration = \"20 ms\"\n{fabric}{switch}\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\nrto_min = \"1 ms\"\ncongestion = {congestion}\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"long\"\nsources = [\"h0\", \"h1\"]\n\
         destinations = [\"h2\", \"h3\"]\n\
         [[link]]\nname = \"left->right\"\nloss = {{ kind = \"bernoulli\", rate = 1e-3 }}\n"
    );
    hitless_scenario::check(&text, "own.toml", &registry).map_err(|error| error.to_string())
}

fn sound(congestion: &str) -> Scenario {
    check(congestion).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn newreno_again_gives_the_same_trace() {
    let trace = |congestion: &str| support::run_scenario(&sound(congestion)).summary.trace_hash;
    let packaged = trace("\"newreno\"");
    for same in ["\"twin\"", "{ kind = \"twin\" }", "{ kind = \"twin\", divisor = 2 }"] {
        assert_eq!(trace(same), packaged, "{same}");
    }
    assert_ne!(trace("{ kind = \"twin\", divisor = 3 }"), packaged);
}

#[test]
fn a_control_that_sets_the_window_sees_every_acknowledgement() {
    let sent = |segments: u64| {
        let congestion = format!("{{ kind = \"constant\", segments = {segments} }}");
        support::run_scenario(&sound(&congestion)).summary.transmissions
    };
    // Both windows are below the path's bandwidth-delay product.
    let (two, four) = (sent(2), sent(4));
    assert!((two * 19 / 10..two * 21 / 10).contains(&four), "{two} and {four}");
}

#[test]
fn a_run_goes_on_from_a_checkpoint() {
    goes_on(&sound("{ kind = \"twin\", divisor = 3 }"), &[0.1, 0.5]);
    goes_on(&sound("{ kind = \"constant\", segments = 9 }"), &[0.1, 0.5]);
}

#[test]
fn partitions_do_not_change_a_run() {
    let scenario = sound("\"twin\"");
    let divided = support::simulation(&scenario).run_on(2, &Progress::default());
    assert_eq!(divided.summary.trace_hash, support::run_scenario(&scenario).summary.trace_hash);
}

#[test]
fn the_effective_configuration_is_complete_and_read_back_the_same() {
    let scenario = sound("\"twin\"");
    let text = scenario.effective_toml();
    assert!(text.contains("kind = \"twin\"") && text.contains("divisor = 2"), "{text}");
    let again = hitless_scenario::check(&text, "own.toml", &Registry::new().with_congestion::<Twin>());
    assert_eq!(again.map_err(|error| error.to_string()), Ok(scenario));
}

#[test]
fn errors_have_the_line_and_the_rule() {
    for (congestion, message) in [
        ("\"twinn\"", "\"twin\""),
        ("{ kind = \"twin\", divisr = 3 }", "transport[0].congestion.divisr: there is no such field"),
        ("{ kind = \"twin\", divisor = \"3\" }", "transport[0].congestion.divisor = \"3\": "),
        ("{ kind = \"twin\", divisor = 0 }", "transport[0].congestion.divisor = 0: "),
        ("{ kind = \"twin\", divisor = 7 }", "transport[0].congestion.divisor = 7: must not be seven"),
        ("\"constant\"", "transport[0].congestion"),
        ("{ kind = \"constant\" }", "segments"),
    ] {
        let error = check(congestion).expect_err(congestion);
        assert!(error.contains(message) && error.contains('^'), "{congestion}: {error}");
    }
}

#[test]
fn names_are_unique() {
    let twice = std::panic::catch_unwind(|| Registry::new().with_congestion::<Twin>().with_congestion::<Twin>());
    assert!(twice.is_err());
    let names: Vec<&str> =
        Registry::new().with_congestion::<Twin>().congestion_facts().map(|facts| facts.name).collect();
    assert_eq!(names, ["twin"]);
}
