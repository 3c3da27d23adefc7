//! Topologies from a file.
//!
//! The file has one line for each switch and each link. A switch must come before its links; otherwise the order is
//! free. `#` begins a comment:
//!
//! ```text
//! switch tor1   0        # name, tier; tier 0 holds the ToR switches, the highest tier the spines
//! switch spine1 1 4      # and, if not one for 16 ports, the number of pipes
//! link tor1 spine1 100   # lower end, upper end, Gb/s
//! ```
//!
//! Links are numbered from 0 in the order of their lines.

use std::collections::HashMap;

use super::builder::Builder;
use super::shape::Shape;
use super::tiers::{SwitchId, Topology, rate_of};
use crate::Problem;

const SWITCH: &str = "switch NAME TIER [PIPES], as in: switch tor1 0";
const LINK: &str = "link LOWER UPPER GBPS, as in: link tor1 spine1 100";
const TIERS_MAX: usize = 16;

/// Parses a topology; `file_name` is for messages.
pub fn from_text(text: &str, file_name: &str) -> Result<Topology, Problem> {
    let mut reader =
        Reader { builder: Builder::new(Shape::Custom { name: file_name.into() }), switches: HashMap::new() };
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let words: Vec<_> = line.split_whitespace().collect();
        let refused = |(what, hint): Refusal| Problem::in_line(what, file_name, number + 1).hint(hint);
        reader.line(&words).map_err(refused)?;
    }
    reader.builder.finish().map_err(|what| Problem::new(what, file_name).hint(format!("{SWITCH}; {LINK}")))
}

/// An error in a line, and a hint.
type Refusal = (String, &'static str);

struct Reader<'a> {
    builder: Builder,
    /// Only for lookups by name; never iterated over.
    switches: HashMap<&'a str, SwitchId>,
}

impl<'a> Reader<'a> {
    fn line(&mut self, words: &[&'a str]) -> Result<(), Refusal> {
        match *words {
            [] => Ok(()),
            ["switch", name, tier] => self.switch(name, tier, None),
            ["switch", name, tier, pipes] => self.switch(name, tier, Some(pipes)),
            ["switch", ..] => Err(("a switch has a name, a tier and perhaps pipes".into(), SWITCH)),
            ["link", lower, upper, gbps] => self.link(lower, upper, gbps),
            ["link", ..] => Err(("a link has two ends and a speed".into(), LINK)),
            [other, ..] => Err((format!("a line begins with switch or link, not with {other:?}"), SWITCH)),
        }
    }

    fn switch(&mut self, name: &'a str, tier: &str, pipes: Option<&str>) -> Result<(), Refusal> {
        let tier =
            whole(tier, 0, TIERS_MAX).ok_or_else(|| (format!("tier {tier:?} is not 0 to {TIERS_MAX}"), SWITCH))?;
        let pipes = match pipes {
            Some(text) => {
                Some(whole(text, 1, 1_024).ok_or_else(|| (format!("pipes {text:?} are not 1 to 1024"), SWITCH))?)
            }
            None => None,
        };
        let id = self.builder.switch(tier, pipes).map_err(|what| (what, SWITCH))?;
        match self.switches.insert(name, id) {
            Some(_) => Err((format!("there are two switches {name:?}"), "each switch has a name of its own")),
            None => Ok(()),
        }
    }

    fn link(&mut self, lower: &str, upper: &str, gbps: &str) -> Result<(), Refusal> {
        let rate = gbps.parse().ok().filter(|&gbps: &f64| gbps > 0.0).and_then(rate_of);
        let rate = rate.ok_or_else(|| (format!("a speed of {gbps:?} is not a number of Gb/s above 0"), LINK))?;
        let (lower, upper) = (self.end(lower)?, self.end(upper)?);
        self.builder.link(lower, upper, rate).map_err(|what| (what, LINK))?;
        Ok(())
    }

    fn end(&self, name: &str) -> Result<SwitchId, Refusal> {
        let known = self.switches.get(name).copied();
        known.ok_or_else(|| (format!("there is no switch {name:?}"), "a switch's line comes before those of its links"))
    }
}

fn whole(text: &str, least: usize, most: usize) -> Option<usize> {
    text.parse().ok().filter(|value| (least..=most).contains(value))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hitless_core::wire::BitRate;
    use proptest::prelude::*;

    const SMALL: &str =
        "switch t1 0\nswitch t2 0 # second\nswitch s1 1 4\n\nlink t1 s1 100\nlink t2 s1 40\nlink t2 s1 40\n";

    #[test]
    fn a_small_file_is_what_it_says() {
        let topology = from_text(SMALL, "small").unwrap();
        assert_eq!(topology.links.len(), 3);
        assert_eq!(topology.pods.len(), 2);
        assert_eq!(topology.paths_of(topology.pods[1][0]), 2);
        assert_eq!(topology.links[1].rate, BitRate::from_gbps(40));
    }

    #[test]
    fn a_problem_has_its_line_and_a_hint() {
        let cases = [
            ("switch t 0\nrouter x", "f:2", "router"),
            ("switch t 0\nswitch t 0", "f:2", "two switches"),
            ("switch t 0\nlink t s 100", "f:2", "no switch \"s\""),
            ("switch t zero", "f:1", "zero"),
            ("switch t 0 0", "f:1", "pipes"),
            ("switch t 0\nswitch s 2\nlink t s 100", "f:3", "from tier 0 to tier 2"),
            ("switch t 0\nswitch s 1\nlink t s fast", "f:3", "fast"),
            ("switch t 0\nswitch s 1\nlink t s 1000001", "f:3", "1000000 Gb/s at most, and this one 1000001"),
            ("switch t 0\nswitch u 0\nswitch s 1\nlink t s 1", "f", "no path"),
            ("", "f", "tier 0"),
        ];
        for (text, place, part) in cases {
            let problem = from_text(text, "f").unwrap_err();
            assert_eq!(problem.place, place, "{text:?}: {problem}");
            assert!(problem.what.contains(part), "{text:?}: {problem}");
            assert!(!problem.hint.is_empty(), "{text:?}");
        }
    }

    /// Such a switch used to form a pod without ToR switches and without capacity, which was the worst pod of the whole
    /// year.
    #[test]
    fn a_switch_in_the_middle_that_no_tor_uses_is_refused() {
        let whole = "switch t 0\nswitch a 1\nswitch s 2\nlink t a 100\nlink a s 100\n";
        assert!(from_text(whole, "f").is_ok());
        for more in ["switch b 1\nlink b s 100\n", "switch b 1\n"] {
            let problem = from_text(&format!("{whole}{more}"), "f").unwrap_err();
            assert!(problem.what.contains("switch 3 (counted from 0) of tier 1 has no link to tier 0"), "{problem}");
            assert_eq!(problem.place, "f");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = from_text(&text, "f");
        }

        #[test]
        fn no_lines_make_it_panic(text in "((switch|link) [abs#] ?[abs0-3]? ?[0-9e.-]{0,4}\n){0,12}") {
            let _ = from_text(&text, "f");
        }
    }
}
