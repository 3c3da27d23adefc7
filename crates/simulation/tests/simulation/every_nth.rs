//! Every Nth in a fabric: its counters match the drops.

use crate::support::{self, counter, run, sum};

fn text(mechanism: &str) -> String {
    let fabric = support::dumbbell(1, "1 us", "1 us");
    format!(
        "name = \"every-nth\"\nduration = \"5 ms\"\n{fabric}\
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
    assert_eq!(dropped, counter(&outcome, "packets_dropped"));
    let sent = sum(&outcome, "flows", "packets_sent");
    assert!(sent.abs_diff(100 * dropped) < 200, "{dropped} of {sent}");
    let [plain, marked] = ["mark_every = 1000000", "mark_every = 2"].map(|mechanism| {
        let outcome = run(&text(mechanism));
        assert!(outcome.summary.drops.is_empty());
        sum(&outcome, "flows", "delivered_bytes")
    });
    assert!(marked < plain, "{marked} of {plain}");
}
