//! Offloads: work that a kernel leaves to network cards, with the effect that frames arrive in a different form than
//! they were sent.
//!
//! With segmentation, a kernel passes frames of up to 64 KB to the interface, and a veth carries them unchanged to its
//! other end. Receive merging has the same effect at the receiver. With checksum offload, frames from a local kernel
//! have no valid checksum. With VLAN offload, the tag is in metadata and not in the frame.

use std::io;

use crate::interfaces::device::NetworkDevice;
use crate::interfaces::sys::ethtool::{Feature, features, switch};

/// Offloads that must be off, in addition to those that end in `-segmentation`, in the kernel's spelling
/// (`netdev_features_strings` of net/ethtool/common.c).
const HARMFUL: [&str; 21] = [
    "tx-gso-partial",
    "tx-gso-list",
    "rx-gro",
    "rx-gro-hw",
    "rx-gro-list",
    "rx-udp-gro-forwarding",
    "rx-lro",
    "rx-checksum",
    "tx-checksum-ipv4",
    "tx-checksum-ipv6",
    "tx-checksum-ip-generic",
    "tx-checksum-sctp",
    "tx-checksum-fcoe-crc",
    "rx-vlan-hw-parse",
    "rx-vlan-stag-hw-parse",
    "tx-vlan-hw-insert",
    "tx-vlan-stag-hw-insert",
    "tx-udp_tnl-csum-segmentation",
    "rx-udp_tunnel-port-offload",
    "macsec-hw-offload",
    "esp-hw-offload",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SwitchedOff {
    /// Offloads that were on and are off now.
    pub switched: Vec<String>,
    /// Offloads that are still on, because the driver does not allow switching them off.
    pub still_on: Vec<String>,
}

impl NetworkDevice {
    /// Returns the active offloads that change frames.
    pub fn offloads_on(&self) -> io::Result<Vec<String>> {
        Ok(self.harmful_on()?.into_iter().map(|feature| feature.name).collect())
    }

    /// Switches off as many of them as possible.
    pub fn switch_off_offloads(&self) -> io::Result<SwitchedOff> {
        self.switch_off(|_| true)
    }

    /// Switches off those that change received frames: enough for a port. The others let it send buffers whole.
    pub fn switch_off_receive_offloads(&self) -> io::Result<SwitchedOff> {
        self.switch_off(|name| !name.starts_with("tx-"))
    }

    fn switch_off(&self, is_wanted: impl Fn(&str) -> bool) -> io::Result<SwitchedOff> {
        let chosen = || {
            let on = self.harmful_on()?.into_iter().filter(|feature| is_wanted(&feature.name));
            Ok::<Vec<Feature>, io::Error>(on.collect())
        };
        let before = chosen()?;
        self.switch(before.iter().filter(|feature| feature.changeable), false)?;
        let still_on: Vec<String> = chosen()?.into_iter().map(|feature| feature.name).collect();
        let switched = before.into_iter().map(|feature| feature.name).filter(|name| !still_on.contains(name)).collect();
        Ok(SwitchedOff { switched, still_on })
    }

    /// Switches the offloads called `names` on again, if the driver allows it.
    pub fn switch_on_offloads(&self, names: &[String]) -> io::Result<()> {
        let features = self.features()?;
        self.switch(features.iter().filter(|feature| names.contains(&feature.name)), true)
    }

    /// Returns the offload of TCP's segmentation, if it is off: then the kernel splits buffers that are sent.
    pub(crate) fn segmentation_off(&self) -> Option<&'static str> {
        const NAME: &str = "tx-tcp-segmentation";
        let features = self.features().ok()?;
        features.iter().any(|feature| feature.name == NAME && !feature.active).then_some(NAME)
    }

    fn switch<'a>(&self, chosen: impl Iterator<Item = &'a Feature>, on: bool) -> io::Result<()> {
        switch(self.control(), self.name(), chosen, on)
            .map_err(|error| self.error("its offloads cannot be switched", &error))
    }

    fn harmful_on(&self) -> io::Result<Vec<Feature>> {
        let is_harmful = |feature: &Feature| feature.active && is_harmful(&feature.name);
        Ok(self.features()?.into_iter().filter(is_harmful).collect())
    }

    fn features(&self) -> io::Result<Vec<Feature>> {
        features(self.control(), self.name()).map_err(|error| self.error("its offloads cannot be read", &error))
    }
}

fn is_harmful(name: &str) -> bool {
    name.ends_with("-segmentation") || HARMFUL.contains(&name)
}
