//! Every Nth in a fabric: what it counts is what happens.

use crate::support::{numbers, run, sum, texts};

fn text(mechanism: &str) -> String {
    format!(
        "name = \"every-nth\"\nduration = \"5 ms\"\n\
         [topology]\nkind = \"dumbbell\"\nhosts_left = 1\nhosts_right = 1\n\
         host_link = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\nbottleneck = {{ rate = \"10 Gbps\", delay = \"1 us\" }}\n\
         [switch]\npreset = \"tofino-like\"\nbuffer = {{ kind = \"static\", per_port = \"500 KB\" }}\nchecked = true\n\
         [[transport]]\nname = \"t\"\nkind = \"tcp\"\ncongestion = \"dctcp\"\n\
         [[flows]]\nname = \"f\"\ntransport = \"t\"\nkind = \"long\"\nsources = [\"h0\"]\ndestinations = [\"h1\"]\n\
         [[mechanism]]\nkind = \"every-nth\"\nports = [\"left->right\"]\n{mechanism}\n"
    )
}

#[test]
fn drops_are_of_an_exact_period_and_marks_slow_the_sender_down() {
    let outcome = run(&text("drop_every = 100\nmark_every = 1000000"));
    let dropped = outcome.summary.drops["given up by a mechanism"];
    let counter = texts(&outcome, "mechanisms", "counter").iter().position(|name| *name == "packets dropped");
    assert_eq!(Some(dropped), counter.map(|row| numbers(&outcome, "mechanisms", "value")[row]));
    let sent = sum(&outcome, "flows", "packets_sent");
    assert!(sent.abs_diff(100 * dropped) < 200, "{dropped} of {sent}");
    let [plain, marked] = ["mark_every = 1000000", "mark_every = 2"].map(|mechanism| {
        let outcome = run(&text(mechanism));
        assert!(outcome.summary.drops.is_empty());
        sum(&outcome, "flows", "delivered_bytes")
    });
    assert!(marked < plain, "{marked} of {plain}");
}
