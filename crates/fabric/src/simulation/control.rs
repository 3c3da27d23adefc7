//! What somebody may tell a run to do while it goes on.

use std::fmt;
use std::str::FromStr;

use hitless_mechanisms::linkguardian::{Action, Command, LinkEnd, Mode};
use hitless_wire::{Duration, Time};

use super::changes::Change;
use super::{LiveFabric, Simulation};
use crate::scenario::guarded::{GuardedEnd, guarded_ends, overload_of};
use crate::scenario::{BernoulliLoss, GilbertElliottLoss, LinkState, LossModel, MechanismSettings};
use crate::topology::select::select_links;
use crate::topology::{DirectedLink, Endpoint, Node};

/// A command for a live run. As text: `fail sw1<->sw2`, `corrupt sw1->sw2 0.001`, `protect sw1->sw2 2 blocking`.
#[derive(Clone, Debug, PartialEq)]
pub enum LiveCommand {
    /// The link is down from now on, in the directions that the name means. With `[recovery]` the ends of a link that is
    /// down both ways find out, and do what it says.
    Fail {
        /// "a->b" or "a<->b".
        link: String,
    },
    /// The link is whole again.
    Repair {
        /// "a->b" or "a<->b".
        link: String,
    },
    /// From now on frames are corrupted at this rate, each by itself or in bursts; 0 ends it.
    Corrupt {
        /// "a->b" or "a<->b".
        link: String,
        /// The share of frames, from 0 to 1.
        rate: f64,
        /// How many frames are lost in a row, on average; `None`: independent losses.
        mean_burst_frames: Option<f64>,
    },
    /// LinkGuardian protects the link; its ends that are here are told.
    Protect {
        /// "a->b".
        link: String,
        /// Copies retransmitted of each lost packet.
        copies: u8,
        /// Whether order is kept.
        mode: Mode,
    },
    /// LinkGuardian stops protecting the link.
    Unprotect {
        /// "a->b".
        link: String,
    },
}

impl fmt::Display for LiveCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fail { link } => write!(f, "fail {link}"),
            Self::Repair { link } => write!(f, "repair {link}"),
            Self::Corrupt { link, rate, mean_burst_frames } => {
                write!(f, "corrupt {link} {rate}")?;
                mean_burst_frames.iter().try_for_each(|frames| write!(f, " {frames}"))
            }
            Self::Protect { link, copies, mode } => {
                let mode = if *mode == Mode::Blocking { "blocking" } else { "non-blocking" };
                write!(f, "protect {link} {copies} {mode}")
            }
            Self::Unprotect { link } => write!(f, "unprotect {link}"),
        }
    }
}

impl FromStr for LiveCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let words: Vec<&str> = text.split_whitespace().collect();
        let link = |name: &str| name.to_owned();
        match *words.as_slice() {
            ["fail", name] => Ok(Self::Fail { link: link(name) }),
            ["repair", name] => Ok(Self::Repair { link: link(name) }),
            ["corrupt", name, rate, ref burst @ ..] if burst.len() < 2 => Ok(Self::Corrupt {
                link: link(name),
                rate: corruption_rate(rate)?,
                mean_burst_frames: burst.first().map(|frames| burst_length(frames)).transpose()?,
            }),
            ["protect", name, copies, mode] => {
                Ok(Self::Protect { link: link(name), copies: copy_count(copies)?, mode: mode_named(mode)? })
            }
            ["unprotect", name] => Ok(Self::Unprotect { link: link(name) }),
            _ => Err(format!(
                "'{text}' is no command; known: fail LINK, repair LINK, corrupt LINK RATE [MEAN_BURST_FRAMES], \
                 protect LINK COPIES blocking|non-blocking, unprotect LINK"
            )),
        }
    }
}

fn corruption_rate(text: &str) -> Result<f64, String> {
    let rate = text.parse().ok().filter(|rate| (0.0..=1.0).contains(rate));
    rate.ok_or_else(|| format!("'{text}' is no rate of corruption: a number from 0 to 1"))
}

fn burst_length(text: &str) -> Result<f64, String> {
    let frames = text.parse().ok().filter(|frames| (1.0..=1e12).contains(frames));
    frames.ok_or_else(|| format!("'{text}' is no mean length of a burst: a number of frames from 1 to 1e12"))
}

/// Losses that come at `rate`, independently or in bursts of a mean length.
fn loss_model(rate: f64, mean_burst_frames: Option<f64>) -> Result<LossModel, String> {
    match mean_burst_frames {
        _ if rate == 0.0 => Ok(LossModel::None),
        Some(_) if rate == 1.0 => Err("a rate of 1 has no bursts, which are some of the frames and not all".into()),
        None => Ok(LossModel::Bernoulli(BernoulliLoss { rate, repair_rate: None })),
        Some(mean_burst_frames) => {
            let loss = GilbertElliottLoss { rate, mean_burst_frames, loss_in_burst: 1.0, loss_between_bursts: 0.0 };
            match loss.fault() {
                None => Ok(LossModel::GilbertElliott(loss)),
                Some((field, rule)) => Err(format!("{field} {rule}")),
            }
        }
    }
}

fn copy_count(text: &str) -> Result<u8, String> {
    text.parse().ok().filter(|&copies| copies > 0).ok_or_else(|| format!("'{text}' is no number of copies: 1 to 255"))
}

fn mode_named(text: &str) -> Result<Mode, String> {
    match text {
        "blocking" => Ok(Mode::Blocking),
        "non-blocking" => Ok(Mode::NonBlocking),
        _ => Err(format!("unknown mode '{text}'; it is \"blocking\" or \"non-blocking\"")),
    }
}

impl LiveFabric {
    /// Carries out a command, right after all that has been handled.
    ///
    /// # Errors
    /// A sentence, when it cannot be; nothing has changed.
    pub fn command(&mut self, command: &LiveCommand) -> Result<(), String> {
        let at = self.now + Duration(1);
        self.command_at(at, command)
    }

    /// Carries out a command at a time that has not been handled yet: how a recording is played.
    ///
    /// # Errors
    /// As of [`Self::command`], and when that time has passed.
    pub fn command_at(&mut self, at: Time, command: &LiveCommand) -> Result<(), String> {
        if at <= self.now {
            return Err(format!(
                "'{command}' came at {} ps, when all up to {} ps was handled",
                at.as_ps(),
                self.now.as_ps()
            ));
        }
        self.handle_until(Time(at.as_ps() - 1));
        let changes = self.changes_of(command)?;
        let outside = self.simulation.medium.outside_mut();
        outside.now = at;
        if let Some(witness) = &mut outside.witness {
            witness.command(at, &command.to_string());
        }
        changes.into_iter().for_each(|change| self.simulation.apply::<true>(at, change));
        Ok(())
    }

    fn changes_of(&self, command: &LiveCommand) -> Result<Vec<Change>, String> {
        match command {
            LiveCommand::Fail { link } => self.states(link, LinkState::Down),
            LiveCommand::Repair { link } => self.states(link, LinkState::Up),
            LiveCommand::Corrupt { link, rate, mean_burst_frames } => {
                let model = loss_model(*rate, *mean_burst_frames)?;
                let links = self.links_here(link)?;
                self.refuse_elsewhere(&links)?;
                Ok(links.into_iter().map(|link| Change::Loss { link, model: model.clone() }).collect())
            }
            LiveCommand::Protect { link, copies, mode } => {
                self.at_both_ends(link, Action::Protect { copies: *copies, mode: *mode })
            }
            LiveCommand::Unprotect { link } => self.at_both_ends(link, Action::Deactivate),
        }
    }

    /// One direction goes down and comes up unnoticed; a link that is cut both ways is noticed if anything notices.
    fn states(&self, name: &str, state: LinkState) -> Result<Vec<Change>, String> {
        let links = self.links_here(name)?;
        let both = (links.len() == 2).then_some(links[0].link);
        Ok(match (both.filter(|&link| self.simulation.is_watched(link)), state) {
            (Some(link), LinkState::Down) => vec![Change::Cut { link }],
            (Some(link), LinkState::Up) => vec![Change::Mend { link }],
            (None, state) => links.into_iter().map(|link| Change::State { link, state }).collect(),
        })
    }

    /// The directions that a name means, when the link has an end here.
    fn links_here(&self, name: &str) -> Result<Vec<DirectedLink>, String> {
        let links = select_links(&self.simulation.topology, name)?;
        let (from, to) = self.simulation.topology.ends(links[0]);
        if self.is_here(from) || self.is_here(to) {
            return Ok(links);
        }
        Err(format!("'{name}' has no end here"))
    }

    /// What arrives at a switch elsewhere is corrupted there.
    fn refuse_elsewhere(&self, links: &[DirectedLink]) -> Result<(), String> {
        let topology = &self.simulation.topology;
        let end = |link: &&DirectedLink| topology.ends(**link).1;
        match links.iter().find(|link| end(link).node.is_switch() && !self.is_here(end(link))) {
            Some(&link) => {
                Err(format!("'{}' ends elsewhere: it is corrupted by the switch there", topology.link_name(link)))
            }
            None => Ok(()),
        }
    }

    fn is_here(&self, end: Endpoint) -> bool {
        matches!(end.node, Node::Switch(id) if self.is_here[id.0 as usize])
    }

    fn at_both_ends(&self, name: &str, action: Action) -> Result<Vec<Change>, String> {
        self.links_here(name)?;
        let directed = self.simulation.directed_link(name)?;
        let (from, to) = self.simulation.topology.ends(directed);
        let ends = [(LinkEnd::Receiver, to), (LinkEnd::Sender, from)];
        let here = ends.into_iter().filter(|&(_, end)| self.is_here(end));
        here.map(|(end, _)| self.simulation.guardian_command(name, end, action)).collect()
    }
}

impl Simulation {
    /// What tells one end of a link guarded by LinkGuardian to do something.
    ///
    /// # Errors
    /// A sentence, when no LinkGuardian is configured on the link.
    pub(super) fn guardian_command(&self, link: &str, end: LinkEnd, action: Action) -> Result<Change, String> {
        let directed = self.directed_link(link)?;
        if !self.is_guarded(directed) {
            return Err(format!("no LinkGuardian is configured on '{link}'"));
        }
        let endpoint = self.endpoint(directed, end);
        let Node::Switch(switch) = endpoint.node else {
            return Err(format!("'{link}' ends at a host: both ends of a protected link are switches"));
        };
        if action != Action::Deactivate {
            self.admit(directed)?;
        }
        let mut reports = self.switches[switch.0 as usize].reports(self.now);
        let mechanism = reports.position(|report| report.mechanism == "linkguardian");
        drop(reports);
        let mechanism = mechanism.expect("both ends of a guarded link run LinkGuardian");
        let command = Command { port: endpoint.port, end, action }.number();
        Ok(Change::Command { switch: switch.0, mechanism, command })
    }

    /// Whether the recirculation ports at both ends have room for one link more.
    ///
    /// # Errors
    /// The arithmetic, when one has not.
    fn admit(&self, link: DirectedLink) -> Result<(), String> {
        let ends = guarded_ends(&self.scenario, &self.topology);
        let is_active = |end: &GuardedEnd<'_>| end.link == link || self.is_protected_at(end);
        let Some(overload) = overload_of(&self.scenario, &self.topology, &ends, is_active) else { return Ok(()) };
        let switch = &self.topology.switch(overload.switch).name;
        let (name, number) = (self.topology.link_name(link), overload.recirculation);
        Err(format!("recirculation{number} of {switch} has no room for '{name}': {}", overload.reason))
    }

    /// Whether an end of a guarded link has been told to protect it.
    fn is_protected_at(&self, end: &GuardedEnd<'_>) -> bool {
        let role = if end.end == LinkEnd::Sender { "sender" } else { "receiver" };
        let scope = format!("port {} {role}", end.at.port.0);
        let mut reports = self.switches[end.switch.0 as usize].reports(self.now);
        let of_guardian = reports.find(|report| report.mechanism == "linkguardian");
        let is_on = |(at, name, value): &(String, &str, u64)| *at == scope && *name == "switched on" && *value == 1;
        of_guardian.is_some_and(|report| report.counters.iter().any(is_on))
    }

    fn is_guarded(&self, link: DirectedLink) -> bool {
        self.scenario.mechanisms.iter().any(|settings| match settings {
            MechanismSettings::LinkGuardian(settings) => {
                select_links(&self.topology, &settings.link).is_ok_and(|links| links.contains(&link))
            }
            _ => false,
        })
    }

    /// The link "a->b".
    pub(super) fn directed_link(&self, name: &str) -> Result<DirectedLink, String> {
        match *select_links(&self.topology, name)? {
            [link] => Ok(link),
            _ => Err(format!("'{name}' is both directions of a link, and one is wanted: \"a->b\"")),
        }
    }

    pub(super) fn endpoint(&self, link: DirectedLink, end: LinkEnd) -> Endpoint {
        let (from, to) = self.topology.ends(link);
        match end {
            LinkEnd::Sender => from,
            LinkEnd::Receiver => to,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_command_survives_its_text() {
        let link = || "sw1->sw2#1".to_owned();
        for command in [
            LiveCommand::Fail { link: link() },
            LiveCommand::Repair { link: link() },
            LiveCommand::Corrupt { link: link(), rate: 1e-3, mean_burst_frames: None },
            LiveCommand::Corrupt { link: link(), rate: 1e-3, mean_burst_frames: Some(2.5) },
            LiveCommand::Corrupt { link: link(), rate: 0.0, mean_burst_frames: None },
            LiveCommand::Protect { link: link(), copies: 2, mode: Mode::Blocking },
            LiveCommand::Protect { link: link(), copies: 255, mode: Mode::NonBlocking },
            LiveCommand::Unprotect { link: link() },
        ] {
            assert_eq!(command.to_string().parse(), Ok(command));
        }
        for text in [
            "",
            "fail",
            "corrupt a->b 1.5",
            "corrupt a->b x",
            "corrupt a->b 0.1 0.5",
            "corrupt a->b 0.1 2 3",
            "protect a->b 0 blocking",
            "protect a->b 1 fast",
        ] {
            assert!(text.parse::<LiveCommand>().is_err(), "{text}");
        }
    }

    #[test]
    fn what_no_burst_can_be_is_refused_in_words_that_were_given() {
        assert!(loss_model(1.0, None).is_ok());
        assert!(loss_model(0.5, Some(4.0)).is_ok());
        let refused = loss_model(1.0, Some(4.0)).expect_err("bursts are not all frames");
        assert!(refused.starts_with("a rate of 1 has no bursts"), "{refused}");
        for frames in ["0.5", "1e13", "inf", "NaN"] {
            let refused = format!("corrupt a->b 0.1 {frames}").parse::<LiveCommand>().expect_err("out of bounds");
            assert!(refused.contains("from 1 to 1e12"), "{refused}");
        }
    }
}
