//! Every Nth's settings: refusals.

use super::*;

const EVERY_NTH: &str = "[[mechanism]]\nkind = \"every-nth\"\n";

#[test]
fn settings_are_read_back_the_same() {
    for settings in ["drop_every = 3\n", "ports = [\"leaf0\"]\nmark_every = 2\n"] {
        assert_reads_back_the_same(&leaf_spine("", TCP, &format!("{EVERY_NTH}{settings}")));
    }
}

#[test]
fn what_cannot_be_meant_is_refused() {
    let text = |settings: &str| leaf_spine("", TCP, &format!("{EVERY_NTH}{settings}"));
    assert_refused([
        (text(""), "mechanism[0]", "neither drops nor marks"),
        (text("drop_every = 3\nports = [\"h0\"]\n"), "mechanism[0].ports[0]", "'h0' is a host"),
        (text("drop_every = 3\nports = [\"leaf0\", \"leaf0->h0\"]\n"), "mechanism[0].ports[1]", "names a port twice"),
    ]);
}
