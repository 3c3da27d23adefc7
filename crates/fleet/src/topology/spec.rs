//! Topologies by name: `fabric:pods=261,tors=48`.

use super::shape::Shape;
use super::tiers::{Topology, rate_of};
use crate::Problem;

const PLACE: &str = "--topology";
const EXAMPLES: &str = "fabric, fabric:pods=20,tors=48,oversubscription=2, fat-tree:ports=48, \
                        leaf-spine:leaves=64,spines=16, each with gbps=400 if not 100; or the name of a file";

/// The shapes, and the options of each with their defaults; 0 marks a required option.
const SHAPES: [(&str, &[(&str, f64)]); 3] = [
    ("fabric", &[("pods", 261.0), ("tors", 48.0), ("oversubscription", 1.0), ("gbps", 100.0)]),
    ("fat-tree", &[("ports", 0.0), ("gbps", 100.0)]),
    ("leaf-spine", &[("leaves", 0.0), ("spines", 0.0), ("gbps", 100.0)]),
];

/// Returns whether `text` names a shape, rather than a file.
pub fn is_spec(text: &str) -> bool {
    let name = text.split(':').next().unwrap_or_default();
    SHAPES.iter().any(|(known, _)| *known == name)
}

/// Builds the topology that `text` describes: a shape, and after a colon the options that differ from its defaults.
pub fn from_spec(text: &str) -> Result<Topology, Problem> {
    let (name, options) = text.split_once(':').unwrap_or((text, ""));
    let Some((_, known)) = SHAPES.iter().find(|(shape, _)| *shape == name) else {
        return Err(Problem::new(format!("there is no topology {name:?}"), PLACE).hint(EXAMPLES));
    };
    let values = read_options(options, known)?;
    let value = |option: &str| values.iter().find(|(name, _)| *name == option).map_or(0.0, |&(_, value)| value);
    let count = |option: &str| value(option) as usize;
    let rate =
        rate_of(value("gbps")).ok_or_else(|| Problem::new("a link has a speed above 0", PLACE).hint(EXAMPLES))?;
    let shape = match name {
        "fabric" => {
            Shape::Fabric { pods: count("pods"), tors: count("tors"), oversubscription: value("oversubscription") }
        }
        "fat-tree" => Shape::FatTree { ports: count("ports") },
        _ => Shape::LeafSpine { leaves: count("leaves"), spines: count("spines") },
    };
    shape.build(rate).map_err(|what| Problem::new(what, PLACE).hint(EXAMPLES))
}

fn read_options(options: &str, known: &[(&'static str, f64)]) -> Result<Vec<(&'static str, f64)>, Problem> {
    let mut values = known.to_vec();
    for option in options.split(',').filter(|option| !option.trim().is_empty()) {
        let (name, text) =
            option.split_once('=').map_or((option.trim(), ""), |(name, text)| (name.trim(), text.trim()));
        let Some(slot) = values.iter_mut().find(|(known, _)| *known == name) else {
            let names: Vec<_> = known.iter().map(|(name, _)| *name).collect();
            let what = format!("this topology has no option {name:?}; it has {}", names.join(", "));
            return Err(Problem::new(what, PLACE).hint(EXAMPLES));
        };
        slot.1 = read_number(name, text)?;
    }
    match values.iter().find(|(_, value)| *value == 0.0) {
        Some((name, _)) => Err(Problem::new(format!("{name} must be given"), PLACE).hint(EXAMPLES)),
        None => Ok(values),
    }
}

fn read_number(name: &str, text: &str) -> Result<f64, Problem> {
    let whole = !matches!(name, "gbps" | "oversubscription");
    let number: Option<f64> = text.parse().ok();
    number.filter(|&value| value > 0.0 && value <= 1e9 && (!whole || value.fract() == 0.0)).ok_or_else(|| {
        let kind = if whole { "a whole number" } else { "a number" };
        Problem::new(format!("{name}={text}: {kind} above 0 is expected"), PLACE).hint(EXAMPLES)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_name_alone_has_the_defaults() {
        assert_eq!(from_spec("fabric").unwrap().links.len(), 100_224);
        assert_eq!(from_spec("fabric:pods=2,tors=8,oversubscription=2").unwrap().links.len(), 2 * (32 + 16));
        assert_eq!(from_spec("leaf-spine:leaves=3,spines=2,gbps=400").unwrap().links.len(), 6);
    }

    #[test]
    fn spaces_about_an_option_do_not_count() {
        let spaced = from_spec("fabric:pods=2, tors = 6 , oversubscription=1.5").unwrap();
        assert_eq!(spaced.shape, Shape::Fabric { pods: 2, tors: 6, oversubscription: 1.5 });
        assert!(from_spec("fat-tree:ports=4, gbps=2.5").is_ok());
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            ("torus:k=4", "torus"),
            ("fat-tree", "ports must be given"),
            ("fat-tree:k=4", "no option \"k\""),
            ("fabric:pods=1.5", "pods=1.5"),
            ("fabric:pods=-1", "pods=-1"),
            ("fat-tree:ports=5", "even"),
            ("fabric:gbps=1000001", "1000000 Gb/s at most"),
            ("leaf-spine:leaves=200,spines=200,gbps=1000000", "together"),
        ];
        for (text, part) in cases {
            let problem = from_spec(text).unwrap_err();
            assert!(problem.what.contains(part), "{text}: {problem}");
            assert!(!problem.hint.is_empty(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn no_text_makes_it_panic(text in "(fabric|fat-tree|leaf-spine|x)?:?[a-z=,0-9.:-]{0,24}") {
            let _ = from_spec(&text);
        }
    }
}
