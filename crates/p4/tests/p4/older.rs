//! Documents of compilers before p4c, which BMv2 accepts too.

use hitless_p4::program::Program;
use serde_json::json;

use crate::small::{at, document, field, number, pipeline, sent, set};

#[test]
fn a_document_without_a_version_or_numbers_of_actions_is_read() {
    let mut of = document(
        &[
            set(1, "egress_spec", number(2)),
            at(2, "add_to_field", &[field("h.a"), number(255)]),
            at(3, "subtract_from_field", &[field("h.b"), number(3)]),
        ],
        &[],
    );
    of.as_object_mut().unwrap().remove("__meta__");
    for pipeline in 0..2 {
        of["pipelines"][pipeline]["tables"][0].as_object_mut().unwrap().remove("action_ids");
    }
    let mut old = pipeline(&of, "table_add ingress.known ingress 1 =>");
    assert_eq!(sent(&mut old, &[1, 2, 3]), [(2, vec![0, 255, 3])], "sums keep to the width of the field");
    of["__meta__"] = json!({"compiler": "p4c-bm"});
    assert!(Program::load(&of.to_string()).is_ok(), "a version may be left out");

    let refused = |of: &serde_json::Value| Program::load(&of.to_string()).unwrap_err().to_string();
    of["pipelines"][0]["tables"][0]["actions"] = json!(["fly"]);
    assert_eq!(refused(&of), "the table ingress.known: the document has no action fly");
    of["pipelines"][0]["tables"][0]["actions"] = json!(["ingress"]);
    of["actions"][1]["name"] = json!("ingress");
    let several = "the table ingress.known: the document has several actions ingress, and the table no action_ids";
    assert_eq!(refused(&of), several);
    of["__meta__"] = json!({"version": [3, 0]});
    assert_eq!(refused(&of), "the document has format version 3.0, and hitless reads 2.x");
}
