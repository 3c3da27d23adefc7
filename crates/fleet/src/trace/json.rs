//! The published simulator's trace files.
//!
//! A file is a JSON object with the topology (`topo_type` 1 fat tree, 2 leaf-spine, 3 Facebook fabric, and its
//! `topo_params`) and `failure_events_list`, one `[time in s, link, loss rate]` for each event. Type 4, a topology from
//! a file, is our extension. Other fields of the published files (counts, first and last time) are written but ignored
//! when reading.

use std::fmt;

use serde::de::{self, Deserializer, SeqAccess, Visitor};
use serde::{Deserialize, Serialize};

use super::failures::{Failure, LATEST_S, Trace};
use crate::topology::{LinkId, Shape};
use crate::{LossRate, Problem};

/// The file, by the published names.
#[derive(Serialize, Deserialize)]
struct File {
    name: String,
    topo_type: u8,
    topo_params: Parameters,
    /// The published generator writes 100224.0.
    num_links: f64,
    #[serde(default)]
    total_failure_events: u64,
    #[serde(default)]
    first_event_time: u64,
    #[serde(default)]
    last_event_time: u64,
    /// In seconds, despite its name.
    #[serde(default)]
    trace_duration_hrs: u64,
    failure_events_list: Vec<Event>,
}

#[derive(Default, Serialize, Deserialize)]
struct Parameters {
    #[serde(skip_serializing_if = "Option::is_none")]
    num_pods: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tors_per_pod: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    oversubscription: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    k: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_leaf: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    num_spine: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    #[serde(default = "hundred")]
    link_capacity: f64,
}

fn hundred() -> f64 {
    100.0
}

/// One event. It is checked while it is read, so that a message has its line.
struct Event(Failure);

impl Serialize for Event {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        (self.0.time_s, self.0.link.0, self.0.loss.as_f64()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Event {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(EventVisitor)
    }
}

struct EventVisitor;

impl<'de> Visitor<'de> for EventVisitor {
    type Value = Event;

    fn expecting(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.write_str("an event [time in s, link, loss rate]")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut parts: A) -> Result<Event, A::Error> {
        let missing = || de::Error::custom("an event has three parts: [time in s, link, loss rate]");
        let time_s: u64 = parts.next_element()?.ok_or_else(missing)?;
        let link: u32 = parts.next_element()?.ok_or_else(missing)?;
        let loss: f64 = parts.next_element()?.ok_or_else(missing)?;
        if parts.next_element::<de::IgnoredAny>()?.is_some() {
            return Err(missing());
        }
        if time_s > LATEST_S {
            return Err(de::Error::custom(format!(
                "an event at {time_s} s lies beyond the {LATEST_S} s that we follow"
            )));
        }
        let loss = LossRate::new(loss).ok_or_else(|| {
            de::Error::custom(format!("a loss rate is above 0 and at most 1, and this one is {loss}"))
        })?;
        Ok(Event(Failure { time_s, link: LinkId(link), loss }))
    }
}

/// Parses a trace; `file_name` is for messages.
pub fn from_json(text: &str, file_name: &str) -> Result<Trace, Problem> {
    let file: File = serde_json::from_str(text).map_err(|error| {
        let what = error.to_string();
        let what = what.rsplit_once(" at line ").map_or(what.as_str(), |(what, _)| what);
        let hint = "hitless fleet trace writes such a file";
        Problem::new(what, format!("{file_name}:{}:{}", error.line(), error.column())).hint(hint)
    })?;
    let shape = shape_of(&file).map_err(|what| Problem::new(what, format!("{file_name}, topo_params")))?;
    if !(file.num_links >= 1.0 && file.num_links <= f64::from(u32::MAX) && file.num_links.fract() == 0.0) {
        let what = format!("num_links is {}, not a number of links", file.num_links);
        return Err(Problem::new(what, format!("{file_name}, num_links")));
    }
    let failures = file.failure_events_list.into_iter().map(|event| event.0).collect();
    let (link_gbps, links) = (file.topo_params.link_capacity, file.num_links as usize);
    Ok(Trace { name: file.name, shape, link_gbps, links, failures })
}

fn shape_of(file: &File) -> Result<Shape, String> {
    let parameters = &file.topo_params;
    let need = |value: Option<usize>, name: &str| value.ok_or_else(|| format!("{name} must be given"));
    match file.topo_type {
        1 => Ok(Shape::FatTree { ports: need(parameters.k, "k")? }),
        2 => Ok(Shape::LeafSpine {
            leaves: need(parameters.num_leaf, "num_leaf")?,
            spines: need(parameters.num_spine, "num_spine")?,
        }),
        3 => Ok(Shape::Fabric {
            pods: need(parameters.num_pods, "num_pods")?,
            tors: need(parameters.tors_per_pod, "tors_per_pod")?,
            oversubscription: parameters.oversubscription.ok_or("oversubscription must be given")?,
        }),
        4 => Ok(Shape::Custom { name: parameters.file.clone().unwrap_or_default() }),
        other => Err(format!("there is no topo_type {other}; it is 1, 2, 3 or 4")),
    }
}

/// Writes a trace in the published format.
pub fn to_json(trace: &Trace) -> String {
    let (topo_type, topo_params) = parameters_of(trace);
    let time_s = |failure: Option<&Failure>| failure.map_or(0, |failure| failure.time_s);
    let (first, last) = (time_s(trace.failures.first()), time_s(trace.failures.last()));
    let file = File {
        name: trace.name.clone(),
        topo_type,
        topo_params,
        num_links: trace.links as f64,
        total_failure_events: trace.failures.len() as u64,
        first_event_time: first,
        last_event_time: last,
        trace_duration_hrs: last.saturating_sub(first),
        failure_events_list: trace.failures.iter().copied().map(Event).collect(),
    };
    serde_json::to_string_pretty(&file).expect("a trace holds nothing that JSON has no words for") + "\n"
}

fn parameters_of(trace: &Trace) -> (u8, Parameters) {
    let all = Parameters { link_capacity: trace.link_gbps, ..Parameters::default() };
    match trace.shape.clone() {
        Shape::FatTree { ports } => (1, Parameters { k: Some(ports), ..all }),
        Shape::LeafSpine { leaves, spines } => {
            (2, Parameters { num_leaf: Some(leaves), num_spine: Some(spines), ..all })
        }
        Shape::Fabric { pods, tors, oversubscription } => {
            let (num_pods, tors_per_pod) = (Some(pods), Some(tors));
            (3, Parameters { num_pods, tors_per_pod, oversubscription: Some(oversubscription), ..all })
        }
        Shape::Custom { name } => (4, Parameters { file: Some(name), ..all }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::from_spec;
    use crate::trace::{Hazard, generate};
    use proptest::prelude::*;

    /// In the published generator's layout.
    const PUBLISHED: &str = r#"{
    "name": "small",
    "topo_type": 3,
    "topo_params": {"num_pods": 1, "oversubscription": 1, "link_capacity": 100, "tors_per_pod": 2},
    "num_links": 16.0,
    "total_failure_events": 2,
    "first_event_time": 345600,
    "last_event_time": 349200,
    "trace_duration_hrs": 3600,
    "failure_events_list": [
        [345600, 3, 1.5e-05],
        [349200, 15, 0.002]
    ]
}"#;

    #[test]
    fn a_published_file_is_read() {
        let trace = from_json(PUBLISHED, "f").unwrap();
        assert_eq!(trace.shape, Shape::Fabric { pods: 1, tors: 2, oversubscription: 1.0 });
        assert_eq!(trace.failures[1].link, LinkId(15));
        assert_eq!(trace.failures[0].loss.as_f64(), 1.5e-5);
    }

    #[test]
    fn a_problem_has_its_line() {
        let cases = [
            ("0.002]", "2.0]", "f:12:", "at most 1"),
            ("349200, 15", "-1, 15", "f:12:", "-1"),
            (", 15, 0.002", ", 15", "f:12:", "three parts"),
            ("\"num_pods\": 1, ", "", "f, topo_params", "num_pods"),
            ("16.0", "-3", "f, num_links", "-3"),
            ("\"name\": \"small\",", "", "f:", "name"),
            ("349200, 15", "18446744073709551615, 15", "f:12:", "beyond"),
        ];
        for (old, new, place, part) in cases {
            let problem = from_json(&PUBLISHED.replace(old, new), "f").unwrap_err();
            assert!(problem.place.starts_with(place), "{new}: {problem}");
            assert!(problem.what.contains(part), "{new}: {problem}");
        }
    }

    #[test]
    fn a_trace_survives_being_written_and_read() {
        for spec in
            ["fabric:pods=2,tors=8,oversubscription=2", "fat-tree:ports=4,gbps=40", "leaf-spine:leaves=3,spines=2"]
        {
            let topology = from_spec(spec).unwrap();
            let trace = generate(&topology, &Hazard::default(), 3, "t").unwrap();
            assert_eq!(from_json(&to_json(&trace), "f").unwrap(), trace, "{spec}");
        }
    }

    proptest! {
        #[test]
        fn any_failures_survive(
            events in prop::collection::vec((0u64..1 << 40, any::<u32>(), 1e-300f64..=1.0), 0..50)
        ) {
            let loss = |rate| LossRate::new(rate).unwrap();
            let failure = |(time_s, link, rate)| Failure { time_s, link: LinkId(link), loss: loss(rate) };
            let failures = events.into_iter().map(failure).collect();
            let shape = Shape::Custom { name: "a \"name\"".into() };
            let trace = Trace { name: "ü\n".into(), shape, link_gbps: 12.5, links: 7, failures };
            prop_assert_eq!(from_json(&to_json(&trace), "f").unwrap(), trace);
        }

        #[test]
        fn no_text_makes_it_panic(text in any::<String>()) {
            let _ = from_json(&text, "f");
        }

        #[test]
        fn no_damage_makes_it_panic(at in 0..PUBLISHED.len(), byte in 32u8..127) {
            let mut bytes = PUBLISHED.as_bytes().to_vec();
            bytes[at] = byte;
            let _ = from_json(&String::from_utf8(bytes).unwrap(), "f");
        }
    }
}
