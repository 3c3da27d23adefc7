//! The ends of links with Wharf.

use hitless_mechanisms::wharf::{EndConfig, contents};
use hitless_wire::PortId;

use super::Planner;
use crate::scenario::WharfSettings;

impl Planner<'_> {
    pub(super) fn add_wharf(&mut self, settings: &WharfSettings) -> Result<(), String> {
        for (from, to) in self.ends_of(&settings.link)? {
            let WharfSettings { data_frames, parity_frames, flush_after, .. } = *settings;
            let end = |port: PortId| EndConfig { port, data_frames, parity_frames, flush_after };
            let (writer, reader) = contents();
            self.draft(from.0).wharf.get_or_insert_default().add_encoder(end(from.1), writer);
            self.draft(to.0).wharf.get_or_insert_default().add_decoder(end(to.1), reader);
        }
        Ok(())
    }
}
