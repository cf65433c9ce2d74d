//! Commands of the operator of the simulation.
use super::serve::{Server, ServerCounters, node_named};
use crate::id::{NodeId, PortId};
use crate::{port::Port, proto::Fault, settings::Settings};
use alloc::{borrow::ToOwned, format, string::ToString};
use alloc::{string::String, vec::Vec};
use core::fmt::Write;
use ib_mad::{Gid, Lid, Pkey, PortState, Rate, ServiceLevel, id::Lmc};

/// The commands of `ib-sim ctl`, as its command `help` prints them.
pub const HELP: &str = "\
stats [reset]                what happened, in numbers
settings                     everything that can be set, with its value
set NAME VALUE               sets one of them
link FROM TO NAME VALUE      sets a fault (loss, delay, down, ...) of the way from port FROM to port TO
link FROM TO clear           lets the general settings be valid again for it
nodes | ports | groups | qps what there is
tree                         where the files of the nodes' devices are
down NODE PORT               the port loses its link
up NODE PORT [rereg]         it comes back (and is asked to register again)
init NODE PORT               its link is there, and the subnet manager has not come yet
ethernet NODE PORT           it is one of an Ethernet network from now on
grh NODE PORT                programs that open it from now on send nothing without a global route
lmc NODE PORT LMC            it has 2^LMC LIDs
lid NODE PORT LID            it gets another LID
smlid NODE PORT LID          the subnet manager has another LID
smsl NODE PORT SL            the service level to it is another
pkeys NODE PORT KEY[,KEY]    it gets another P_Key table (hex)
gid NODE PORT INDEX GID      it gets another GID
rate NODE PORT GBPS          its link has another rate, of which there is no event
rereg NODE PORT              it is asked to register again
leave NODE PORT              the administrator forgets its memberships silently
device remove NODE           its device is taken away: files vanish, programs are cut off
device add NODE [GUID]       it comes back, or another one with this node GUID
device fail NODE             programs are cut off, and its files stay
qp fail NODE PORT            queue pairs of programs there go into error, without completions
cq fail NODE PORT            completions of their receives are lost
uevent forge NODE SENDER     a message about its device from somebody else than the kernel
uevent lose NODE             the kernel's messages about devices are lost there
uevent resume NODE           they come again, and programs hear that some were lost
umad remove NODE PORT        the port's umad device is taken away
umad add NODE PORT           it comes back
hold NODE KIND               messages of its programs wait: KIND is attach, mad or datagram
held                         what is held, with the number of waiting messages
release NODE                 its messages go on, and no more of them wait
smrestart [MLID]             the administrator forgets every group; new ones get LIDs from MLID on
A port is written NODE/PORT. NODE is a name or a number; devices of one host are nodes named HOST, HOST:1, HOST:2; where a port changes, 'all' means every node.
";

const UNKNOWN: &str = "unknown command; 'help' lists them";

type CommandResult = Result<String, String>;

impl Server {
    /// Executes a command. The output of a failed command begins with `error: `.
    pub(super) fn command(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        self.try_command(&words).unwrap_or_else(|error| format!("error: {error}\n"))
    }

    fn try_command(&mut self, words: &[&str]) -> CommandResult {
        match words {
            ["help"] => Ok(HELP.to_owned()),
            ["stats"] => Ok(lines(self.statistics())),
            ["stats", "reset"] => {
                let before = lines(self.statistics());
                self.subnet.reset_counters();
                self.counters = ServerCounters::default();
                Ok(before)
            }
            ["settings"] => Ok(lines(self.subnet.settings().iter())),
            ["set", name, value] => {
                let set = self.subnet.settings_mut().set(name, value);
                set.map(|()| done()).map_err(|error| format!("{name} {value}: {error}"))
            }
            ["link", from, to, "clear"] => {
                let (from, to) = (self.port_named(from)?, self.port_named(to)?);
                self.subnet.set_link(from, to, None);
                Ok(done())
            }
            ["link", from, to, name, value] => {
                let (from, to) = (self.port_named(from)?, self.port_named(to)?);
                let mut settings = Settings { faults: self.subnet.link(from, to), ..Settings::default() };
                let set = settings.set(&format!("ud_{name}"), value);
                set.map_err(|error| format!("{name} {value}: {error}"))?;
                self.subnet.set_link(from, to, Some(settings.faults));
                Ok(done())
            }
            ["tree"] => match &self.tree {
                Some(tree) => Ok(format!("{}\n", tree.root.display())),
                None => Err("served without files (serve --tree)".to_owned()),
            },
            ["nodes"] => Ok(self.nodes()),
            ["ports"] => Ok(self.ports()),
            ["groups"] => Ok(self.groups()),
            ["qps"] => Ok(self.subnet.qps().fold(String::new(), |mut text, qp| {
                // Writing to a String cannot fail.
                let _ = writeln!(text, "{} {}", qp.port, qp.qpn);
                text
            })),
            ["device" | "umad" | "qp" | "cq" | "uevent", ..] => self.device_command(words),
            ["hold", node, kind] => self.held.hold(self.node(node)?, kind).map(|()| done()),
            ["held"] => Ok(self.held.lines()),
            ["release", node] => {
                let now = self.clock.now();
                for (token, message) in self.held.release(self.node(node)?) {
                    self.handle_message(now, token, &message);
                }
                Ok(done())
            }
            ["smrestart"] => {
                self.subnet.restart_sm(None);
                Ok(done())
            }
            ["smrestart", mlid] => {
                let mlid: Lid = mlid.parse().map_err(|error| format!("{mlid}: {error}"))?;
                self.subnet.restart_sm(Some(mlid));
                Ok(done())
            }
            [command, node, port, rest @ ..] => self.port_command(command, node, port, rest),
            _ => Err(UNKNOWN.to_owned()),
        }
    }

    fn device_command(&mut self, words: &[&str]) -> CommandResult {
        match words {
            ["device", "remove", node] => self.remove_device(self.node(node)?).map(|()| done()),
            ["device", "add", node] => self.add_device(self.node(node)?, None).map(|()| done()),
            ["device", "add", node, guid] => {
                let guid = guid.parse().map_err(|error| format!("{guid}: {error}"))?;
                self.add_device(self.node(node)?, Some(guid)).map(|()| done())
            }
            ["device", "fail", node] => self.fail_device(self.node(node)?).map(|()| done()),
            ["qp", "fail", node, port] => {
                let port = self.port_named(&format!("{node}/{port}"))?;
                Ok(self.fail_queues(port, Fault::QUEUE_PAIR))
            }
            ["cq", "fail", node, port] => {
                let port = self.port_named(&format!("{node}/{port}"))?;
                Ok(self.fail_queues(port, Fault::COMPLETION_QUEUE))
            }
            ["uevent", "forge", node, sender] => {
                let sender = sender.parse().map_err(|_| format!("no port id: {sender}"))?;
                self.forge_uevent(self.node(node)?, sender);
                Ok(done())
            }
            ["uevent", "lose", node] => {
                self.stop_uevents(self.node(node)?);
                Ok(done())
            }
            ["uevent", "resume", node] => {
                self.resume_uevents(self.node(node)?);
                Ok(done())
            }
            ["umad", "remove", node, port] => {
                self.remove_umad(self.port_named(&format!("{node}/{port}"))?).map(|()| done())
            }
            ["umad", "add", node, port] => self.add_umad(self.port_named(&format!("{node}/{port}"))?).map(|()| done()),
            _ => Err(UNKNOWN.to_owned()),
        }
    }

    fn port_command(&mut self, command: &str, node: &str, port: &str, rest: &[&str]) -> CommandResult {
        let number = port.parse().map_err(|_| format!("no port: {port}"))?;
        let nodes: Vec<NodeId> = match node {
            "all" => (1..=self.subnet.node_count()).map(NodeId::new).collect(),
            _ => node_named(&self.subnet, node).into_iter().collect(),
        };
        if nodes.is_empty() {
            return Err(format!("no such node: {node}"));
        }
        for node in nodes {
            let id = PortId { node, port: number };
            let port = self.subnet.port(id).ok_or_else(|| format!("no such port: {id}"))?.clone();
            match (command, rest) {
                ("rereg", []) => self.subnet.reregister(id).map_err(|error| error.to_string())?,
                ("leave", []) => self.subnet.drop_memberships(id),
                ("up", ["rereg"]) => {
                    self.set_port(id, Port { state: PortState::ACTIVE, ..port })?;
                    self.subnet.reregister(id).map_err(|error| error.to_string())?;
                }
                _ => {
                    let changed = changed(port, command, rest)?;
                    self.set_port(id, changed)?;
                    if matches!(command, "rate" | "grh") {
                        self.send_port(id, 0);
                    }
                }
            }
        }
        Ok(done())
    }

    fn node(&self, text: &str) -> Result<NodeId, String> {
        node_named(&self.subnet, text).ok_or_else(|| format!("no such node: {text}"))
    }

    fn set_port(&mut self, id: PortId, port: Port) -> Result<(), String> {
        self.subnet.set_port(id, port).map_err(|error| error.to_string())
    }

    fn port_named(&self, text: &str) -> Result<PortId, String> {
        let (node, port) = text.split_once('/').unwrap_or((text, "1"));
        let id = node_named(&self.subnet, node).zip(port.parse().ok()).map(|(node, port)| PortId { node, port });
        id.filter(|id| self.subnet.port(*id).is_some()).ok_or_else(|| format!("no such port: {text}"))
    }

    fn nodes(&self) -> String {
        let nodes = (1..=self.subnet.node_count()).map(NodeId::new);
        nodes.filter_map(|id| Some((id, self.subnet.node(id)?))).fold(String::new(), |mut text, (id, node)| {
            let programs = self.connections.values().filter(|connection| connection.is_program_of(id)).count();
            let _ =
                writeln!(text, "{id} {} guid {} ports {} programs {programs}", node.name, node.guid, node.ports.len());
            text
        })
    }

    fn ports(&self) -> String {
        self.subnet.ports().fold(String::new(), |mut text, (id, port)| {
            let gid = port.gid();
            let pkeys: Vec<String> = port.pkeys.iter().map(ToString::to_string).collect();
            let _ = writeln!(
                text,
                "{id} {} lid {} lmc {} sm_lid {} gid {gid} pkeys {} mtu {} rate {}",
                port.state,
                port.lid,
                port.lmc,
                port.sm_lid,
                pkeys.join(","),
                port.mtu,
                port.rate,
            );
            text
        })
    }

    fn groups(&self) -> String {
        self.subnet.groups().fold(String::new(), |mut text, group| {
            let _ = write!(
                text,
                "{} mlid {:#x} pkey {} qkey {} mtu {} rate {} members",
                group.mgid,
                group.mlid.get(),
                group.pkey,
                group.qkey,
                group.mtu,
                group.rate,
            );
            for (port, state) in &group.members {
                let _ = write!(text, " {port}:{:#x}", state.bits());
            }
            text.push('\n');
            text
        })
    }
}

/// Returns the port after a command.
fn changed(port: Port, command: &str, rest: &[&str]) -> Result<Port, String> {
    let lid = |text: &str| text.parse::<Lid>().map_err(|error| format!("{text}: {error}"));
    Ok(match (command, rest) {
        ("down", []) => Port { state: PortState::DOWN, ..port },
        ("up", []) => Port { state: PortState::ACTIVE, ..port },
        ("init", []) => Port { state: PortState::INIT, ..port },
        ("ethernet", []) => Port { ethernet: true, lid: Lid::NONE, sm_lid: Lid::NONE, ..port },
        ("grh", []) => Port { grh_required: true, ..port },
        ("lmc", [text]) => {
            let lmc = text.parse().ok().and_then(Lmc::checked).ok_or_else(|| format!("no LMC: {text}"))?;
            Port { lmc, ..port }
        }
        ("lid", [text]) => Port { lid: lid(text)?, ..port },
        ("smlid", [text]) => Port { sm_lid: lid(text)?, ..port },
        ("smsl", [text]) => {
            let sl =
                text.parse().ok().and_then(ServiceLevel::checked).ok_or_else(|| format!("no service level: {text}"))?;
            Port { sm_sl: sl, ..port }
        }
        ("rate", [text]) => {
            let rate = text.parse().ok().and_then(Rate::from_gbps).ok_or_else(|| format!("no rate: {text}"))?;
            Port { rate, ..port }
        }
        ("pkeys", [text]) => {
            let key = |text: &str| u16::from_str_radix(text.trim_start_matches("0x"), 16).ok().map(Pkey::new);
            let pkeys: Option<Vec<Pkey>> = text.split(',').map(key).collect();
            Port { pkeys: pkeys.ok_or_else(|| format!("no P_Keys: {text}"))?, ..port }
        }
        ("gid", [index, text]) => {
            let gid: Gid = text.parse().map_err(|error| format!("{text}: {error}"))?;
            let index = index.parse().ok().filter(|index: &usize| *index < 256).ok_or("no index")?;
            let mut gids = port.gids;
            if gids.len() <= index {
                gids.resize(index + 1, Gid::ZERO);
            }
            if let Some(entry) = gids.get_mut(index) {
                *entry = gid;
            }
            Port { gids, ..port }
        }
        _ => return Err(UNKNOWN.to_owned()),
    })
}

fn done() -> String {
    "ok\n".to_owned()
}

fn lines<T: core::fmt::Display>(entries: impl Iterator<Item = (&'static str, T)>) -> String {
    entries.fold(String::new(), |mut text, (name, value)| {
        let _ = writeln!(text, "{name} {value}");
        text
    })
}
