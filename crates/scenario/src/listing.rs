//! The schema as text for people, and the built-in tables and lists.

use hitless_core::settings::listing::Listing;

use crate::kind::Registry;
use crate::workload::{Cdf, cdf, flow_list};

/// Lists every field of a scenario file, section by section, and the built-in tables and lists.
pub fn schema_text(registry: &Registry) -> String {
    let mut listing = Listing::of(registry.schema());
    listing.line("Tables of flow sizes (flows.sizes.table)\n----------------------------------------");
    for (name, text) in cdf::TABLES {
        let Ok(table) = Cdf::parse(text) else { continue };
        let mean = table.mean_linear();
        listing.line(format!("  {name:<42} mean {mean:.0} B"));
        listing.paragraph(6, &table.source);
    }
    listing.line("\nLists of flows (flows.file)\n---------------------------");
    for (name, text) in flow_list::LISTS {
        listing.line(format!("  {name:<42} {} flows", text.lines().count()));
    }
    listing.into_text()
}
