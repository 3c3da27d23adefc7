//! Loads programs and tables from the settings of an entry. Files are read here, before the run.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use hitless_core::settings::input;
use hitless_core::wire::HostId;
use hitless_p4::commands::Commands;
use hitless_p4::entries::{call, entry};
use hitless_p4::number::{Number, Wide};
use hitless_p4::p4runtime::info::P4Info;
use hitless_p4::p4runtime::write::Request;
use hitless_p4::pipeline::Pipeline;
use hitless_p4::program::{Beyond, Instruction, MatchKind, Program, Table, Target};
use hitless_p4::values::{matched, number};
use hitless_scenario::kind::Surroundings;
use hitless_scenario::network::routing::{PathRule, Routing};
use hitless_scenario::network::topology::{Node, SwitchId, Topology};

use super::bytes::{address, card};
use super::settings::{P4Entry, P4Routes, P4Settings};

/// A problem: the field of the settings, and the rule.
pub type Fault = (&'static str, String);

/// Parses values with names, each written as "name = value".
fn pairs(of: &[String]) -> Result<BTreeMap<String, String>, String> {
    let pair = |text: &String| {
        let (name, value) =
            text.split_once('=').ok_or_else(|| format!("\"{text}\" is not written \"name = value\""))?;
        Ok((name.trim().to_string(), value.trim().to_string()))
    };
    of.iter().map(pair).collect()
}

/// The state shared by all switches of an entry.
pub struct Loaded {
    pub program: Arc<Program>,
    commands: String,
    /// The entries in P4Runtime, with the meaning of their numbers.
    runtime: Option<(P4Info, Request)>,
    routing: Routing,
    pub digest: String,
}

/// FNV-1a over 64 bits: sufficient to notice a changed file.
fn digest(texts: &[&str]) -> String {
    let bytes = texts.iter().flat_map(|text| text.bytes().chain([0]));
    let hash =
        bytes.fold(0xcbf2_9ce4_8422_2325u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    format!("{hash:016x}")
}

/// The texts of p4info and request, if given.
fn runtime_files(
    settings: &P4Settings,
    read: impl Fn(&str) -> Result<String, String>,
) -> Result<Option<[String; 2]>, Fault> {
    let (info, request) = (settings.p4info.as_str(), settings.p4runtime.as_str());
    match (info, request) {
        ("", "") => Ok(None),
        ("", _) => Err(("p4info", "says what the numbers of p4runtime mean, and is not given".into())),
        (_, "") => Err(("p4runtime", "has the entries whose numbers p4info explains, and is not given".into())),
        _ => {
            let info = read(info).map_err(|rule| ("p4info", rule))?;
            Ok(Some([info, read(request).map_err(|rule| ("p4runtime", rule))?]))
        }
    }
}

fn runtime(settings: &P4Settings, info: &str, request: &str, program: &Program) -> Result<(P4Info, Request), Fault> {
    let info = P4Info::load(info, &settings.p4info, program);
    let request = Request::read(request, &settings.p4runtime);
    Ok((
        info.map_err(|error| ("p4info", error.to_string()))?,
        request.map_err(|error| ("p4runtime", error.to_string()))?,
    ))
}

impl Loaded {
    /// Reads the files of `settings`, relative to `folder`.
    ///
    /// # Errors Why a file cannot be read, or is refused.
    pub fn read(settings: &P4Settings, folder: &Path, around: Surroundings<'_>) -> Result<Self, Fault> {
        let read =
            |name: &str| input::read_text(&folder.join(name)).map_err(|error| format!("cannot be read: {error}"));
        let text = read(&settings.program).map_err(|rule| ("program", rule))?;
        let program = Program::load(&text).map_err(|error| ("program", error.to_string()))?;
        let missing = program.instructions.iter().find_map(|instruction| match instruction {
            Instruction::Recirculate(_) if around.scenario.switch.recirculation_ports == 0 => {
                Some("recirculates packets, and switch.recirculation_ports is 0")
            }
            Instruction::Beyond(Beyond::CurrentRound, ..) if settings.rounds.is_empty() => {
                Some("asks for the round of rotating queues: [[mechanism.rounds]] says at which ports there are some")
            }
            _ => None,
        });
        if let Some(what) = missing {
            return Err(("program", what.into()));
        }
        let commands = match settings.commands.as_str() {
            "" => String::new(),
            name => read(name).map_err(|rule| ("commands", rule))?,
        };
        let mut texts = vec![&*text, &*commands];
        let files = runtime_files(settings, read)?;
        texts.extend(files.iter().flatten().map(String::as_str));
        let runtime = match &files {
            Some([info, request]) => Some(runtime(settings, info, request, &program)?),
            None => None,
        };
        let routing = Routing::new(around.topology, PathRule::FlowHash);
        let digest = digest(&texts);
        if let Some(given) = settings.digest.as_ref().filter(|given| **given != digest) {
            return Err(("digest", format!("is not \"{given}\" but \"{digest}\": the files have other text now")));
        }
        Ok(Self { program: Arc::new(program), commands, runtime, routing, digest })
    }

    /// The program on a switch, with its entries.
    ///
    /// # Errors An entry that the program refuses.
    pub fn pipeline(
        &self,
        settings: &P4Settings,
        id: SwitchId,
        topology: &Topology,
        seed: u64,
    ) -> Result<Pipeline, Fault> {
        let mut pipeline = Pipeline::new(self.program.clone(), seed);
        let answers = pipeline.commands(0).run(&self.commands, &settings.commands);
        answers.map_err(|error| ("commands", error.to_string()))?;
        if let Some((info, request)) = &self.runtime {
            request.apply(info, pipeline.commands(0)).map_err(|error| ("p4runtime", error.to_string()))?;
        }
        let mut commands = pipeline.commands(0);
        let name = topology.name(Node::Switch(id));
        for given in settings.table.iter().filter(|given| given.switch.is_empty() || given.switch == name) {
            self.add(given, &mut commands).map_err(|rule| ("table", rule))?;
        }
        if let Some(routes) = &settings.routes {
            self.route(routes, id, topology, &mut commands).map_err(|rule| ("routes", rule))?;
        }
        Ok(pipeline)
    }

    fn table(&self, name: &str) -> Result<(u32, &Table), String> {
        let number = self.program.table(name).ok_or_else(|| {
            let names: Vec<_> = self.program.tables.iter().map(|table| table.name.as_str()).collect();
            format!("there is no table {name}; the program has {}", names.join(", "))
        })?;
        Ok((number, &self.program.tables[number as usize]))
    }

    fn target(&self, table: &Table, action: &str, values: &BTreeMap<String, String>) -> Result<Target, String> {
        let number = self.program.action(&table.actions, action);
        let number = number.ok_or_else(|| format!("the table {} has no action {action}", table.name))?;
        let parameters = &self.program.actions[number as usize].parameters;
        if let Some(unknown) = values.keys().find(|name| !parameters.iter().any(|(known, _)| known == *name)) {
            return Err(format!("the action {action} has no parameter {unknown}"));
        }
        let given = parameters.iter().map(|(name, slot)| {
            let text = values.get(name).ok_or_else(|| format!("the parameter {name} of {action} has no value"))?;
            self::number(text, slot.width).map_err(|error| error.to_string())
        });
        let given: Result<Vec<Wide>, String> = given.collect();
        let call = call(&self.program, number, &given?).map_err(|error| error.to_string())?;
        Ok(Target::Call(call))
    }

    fn add(&self, given: &P4Entry, commands: &mut Commands<'_>) -> Result<(), String> {
        let (number, table) = self.table(&given.table)?;
        let field = |name: &String| {
            let known = |of: &str| of == name || of.ends_with(&format!(".{name}"));
            table.key.iter().position(|key| known(&key.name))
        };
        let mut texts: Vec<Option<&str>> = vec![None; table.key.len()];
        let key = pairs(&given.key)?;
        for (name, value) in &key {
            let place = field(name).ok_or_else(|| {
                let names: Vec<_> = table.key.iter().map(|key| key.name.as_str()).collect();
                format!("the key of {} has no field {name}, but {}", table.name, names.join(", "))
            })?;
            texts[place] = Some(value);
        }
        let matches = table.key.iter().zip(texts).map(|(key, text)| match (text, key.kind) {
            (Some(text), _) => matched(text, key).map_err(|error| error.to_string()),
            (None, MatchKind::Ternary) => matched("0&&&0", key).map_err(|error| error.to_string()),
            (None, _) => Err(format!("the field {} of {} has no value", key.name, table.name)),
        });
        let matches: Result<Vec<_>, String> = matches.collect();
        let target = self.target(table, &given.action, &pairs(&given.values)?)?;
        let made = entry(table, &matches?, given.priority, target).map_err(|error| error.to_string())?;
        commands.insert(number, made).map_err(|error| error.to_string())?;
        Ok(())
    }

    /// Adds an entry for each host: the port of a shortest path, the same for all flows to the host.
    fn route(
        &self,
        routes: &P4Routes,
        id: SwitchId,
        topology: &Topology,
        commands: &mut Commands<'_>,
    ) -> Result<(), String> {
        let (number, table) = self.table(&routes.table)?;
        let is_address = table.key.len() == 1 && table.key[0].width == 32 && table.key[0].kind != MatchKind::Range;
        if !is_address {
            return Err(format!("the key of {} must be an IPv4 address alone", table.name));
        }
        for host in topology.host_ids() {
            let hops = self.routing.next_hops(id, host);
            let Some(&port) = hops.get((host.0 + id.0) as usize % hops.len().max(1)) else { continue };
            let mut values = BTreeMap::from([(routes.port.clone(), port.0.to_string())]);
            if !routes.address.is_empty() {
                let next = match topology.switch(id).ports[usize::from(port.0)].peer.node {
                    Node::Host(host) => card(host),
                    Node::Switch(switch) => card(HostId(0x00ff_0000 | switch.0)),
                };
                values.insert(routes.address.clone(), format!("0x{next:x}"));
            }
            let target = self.target(table, &routes.action, &values)?;
            let value = Wide::small(address(host).into());
            let key = match table.key[0].kind {
                MatchKind::Exact => hitless_p4::entries::Match::Exact(value),
                _ => hitless_p4::entries::Match::Prefix(value, 32),
            };
            let made = entry(table, &[key], 0, target).map_err(|error| error.to_string())?;
            commands.insert(number, made).map_err(|error| error.to_string())?;
        }
        Ok(())
    }
}
