//! Walks a subnet from a port by directed routes and prints it as ibnetdiscover does: `fabric [UMAD_FILE]`.
use core::error::Error;
use ib_device::umad::{Client, MadAddress, QueryError};
use ib_mad::{
    Guid, Method, NodeType, PortPhysicalState, TransactionId, as_bytes,
    attribute::Attribute,
    smp::{DrPath, DrSmp, NodeDescription, NodeInfo, PortInfo, SwitchInfo},
};
use std::{
    collections::{BTreeMap, VecDeque},
    path::Path,
};

type Result<T> = core::result::Result<T, Box<dyn Error>>;

/// A node, in the order of discovery.
struct Node {
    path: DrPath,
    info: NodeInfo,
    name: String,
    /// True if port 0 of a switch is enhanced.
    enhanced: bool,
    /// Ports whose state was read. Port 0 of a switch has the LID.
    ports: BTreeMap<u8, PortInfo>,
    /// GUIDs of the ports through which a channel adapter or router was reached.
    guids: BTreeMap<u8, Guid>,
    /// Far end of the link at each port: node and port.
    links: BTreeMap<u8, (usize, u8)>,
}

/// The nodes found so far.
struct Fabric {
    client: Client,
    nodes: Vec<Node>,
    known: BTreeMap<Guid, usize>,
}

impl Fabric {
    fn get<A: Attribute>(&mut self, path: &DrPath, modifier: u32) -> core::result::Result<A, QueryError> {
        let request = DrSmp::request(Method::GET, path, modifier, TransactionId::new(1), &A::ZERO);
        let response = self.client.query(&MadAddress::directed_route(), as_bytes(&request))?;
        Ok(*response.view()?.attribute_as::<A>()?)
    }

    /// Reads the node at the end of a path; returns its number and the port at which the path arrives.
    fn visit(&mut self, path: &DrPath) -> Result<(usize, u8)> {
        let info: NodeInfo = self.get(path, 0)?;
        let port = info.port_vendor.local_port_num();
        let known = self.known.get(&info.node_guid).copied();
        let number = match known {
            Some(number) => number,
            None => self.add(path, info)?,
        };
        if info.node_type != NodeType::SWITCH {
            let state = self.get(path, PortInfo::of_port(port))?;
            self.nodes[number].ports.insert(port, state);
            self.nodes[number].guids.insert(port, info.port_guid);
        }
        Ok((number, port))
    }

    fn add(&mut self, path: &DrPath, info: NodeInfo) -> Result<usize> {
        let description: NodeDescription = self.get(path, 0)?;
        let mut node = Node {
            path: *path,
            info,
            name: String::from_utf8_lossy(description.node_string.as_text()).into_owned(),
            enhanced: false,
            ports: BTreeMap::new(),
            guids: BTreeMap::new(),
            links: BTreeMap::new(),
        };
        if info.node_type == NodeType::SWITCH {
            node.enhanced = self.get::<SwitchInfo>(path, 0)?.enforcement_caps.enhanced_port0();
            for port in 0..=info.num_ports {
                node.ports.insert(port, self.get(path, PortInfo::of_port(port))?);
            }
        }
        self.known.insert(info.node_guid, self.nodes.len());
        self.nodes.push(node);
        Ok(self.nodes.len() - 1)
    }

    /// Follows each link of each switch, and the link of the first port.
    fn walk(&mut self) -> Result<()> {
        let mut queue = VecDeque::from([self.visit(&DrPath::new())?.0]);
        while let Some(from) = queue.pop_front() {
            let is_up = |state: &PortInfo| state.physical_states.port_physical_state() == PortPhysicalState::LINK_UP;
            let node = &self.nodes[from];
            let up: Vec<u8> = node.ports.iter().filter(|(_, state)| is_up(state)).map(|(port, _)| *port).collect();
            let path = node.path;
            for port in up.into_iter().filter(|port| *port != 0) {
                let count = self.nodes.len();
                let to = match self.visit(&path.then(port)?) {
                    Ok(to) => to,
                    Err(error) => {
                        eprintln!("{path},{port}: {error}");
                        continue;
                    }
                };
                self.nodes[from].links.insert(port, to);
                self.nodes[to.0].links.insert(to.1, (from, port));
                if self.nodes.len() > count && self.nodes[to.0].info.node_type == NodeType::SWITCH {
                    queue.push_back(to.0);
                }
            }
        }
        Ok(())
    }

    /// Returns the name of a node in links: its kind and its GUID.
    fn id(&self, node: usize) -> String {
        let info = &self.nodes[node].info;
        let kind = match info.node_type {
            NodeType::SWITCH => 'S',
            NodeType::CHANNEL_ADAPTER => 'H',
            NodeType::ROUTER => 'R',
            _ => '?',
        };
        format!("\"{kind}-{:016x}\"", info.node_guid.get())
    }

    /// Returns the LID and LMC of a port. All ports of a switch have those of port 0.
    fn lid(&self, node: usize, port: u8) -> (u16, u8) {
        let node = &self.nodes[node];
        let port = if node.info.node_type == NodeType::SWITCH { 0 } else { port };
        node.ports.get(&port).map_or((0, 0), |state| (state.lid.get(), state.mkey_lmc.lmc().get()))
    }

    fn print(&self, number: usize) {
        let Node { info, name, enhanced, links, .. } = &self.nodes[number];
        let (id, ports, guid) = (self.id(number), info.num_ports, info.node_guid.get());
        println!("\nvendid={:#x}\ndevid={:#x}", info.port_vendor.vendor_id().get(), info.device_id.get());
        if info.system_image_guid.get() != 0 {
            println!("sysimgguid={:#x}", info.system_image_guid.get());
        }
        match info.node_type {
            NodeType::SWITCH => {
                let (lid, lmc) = self.lid(number, 0);
                let port0 = if *enhanced { "enhanced" } else { "base" };
                println!("switchguid={guid:#x}({:x})", info.port_guid.get());
                println!("Switch\t{ports} {id}\t\t# \"{name}\" {port0} port 0 lid {lid} lmc {lmc}");
            }
            other => {
                let (key, title) = if other == NodeType::ROUTER { ("rt", "Rt") } else { ("ca", "Ca") };
                println!("{key}guid={guid:#x}\n{title}\t{ports} {id}\t\t# \"{name}\"");
            }
        }
        for (port, to) in links {
            self.print_link(number, *port, *to);
        }
    }

    fn print_link(&self, from: usize, port: u8, (to, remote): (usize, u8)) {
        let guid = |node: usize, port: u8| self.nodes[node].guids.get(&port).map(|guid| guid.get());
        let own = guid(from, port).map_or(String::new(), |guid| format!("({guid:x}) "));
        let other = guid(to, remote).map_or(String::new(), |guid| format!("({guid:x}) "));
        let state = &self.nodes[from].ports[&port];
        let lanes = state.link_width_active.lanes().map_or("??".into(), |lanes| format!("{lanes}x"));
        let speed = state.generation().map_or("???", |generation| generation.name);
        let (lid, _) = self.lid(to, remote);
        let lmc = match self.nodes[from].info.node_type {
            NodeType::SWITCH => String::new(),
            _ => {
                let (lid, lmc) = self.lid(from, port);
                format!("lid {lid} lmc {lmc} ")
            }
        };
        let (id, name) = (self.id(to), &self.nodes[to].name);
        println!("[{port}]{own}\t{id}[{remote}]{other}\t\t# {lmc}\"{name}\" lid {lid} {lanes}{speed}");
    }
}

fn main() -> Result<()> {
    let file = std::env::args().nth(1).unwrap_or_else(|| "/dev/infiniband/umad0".into());
    let client = Client::open(Path::new(&file))?;
    let mut fabric = Fabric { client, nodes: Vec::new(), known: BTreeMap::new() };
    fabric.walk()?;
    let first = &fabric.nodes[0];
    let port = first.info.port_guid.get();
    println!("# Initiated from node {:016x} port {port:016x}", first.info.node_guid.get());
    // ibnetdiscover prints switches, channel adapters and routers, the last one found first.
    for kind in [NodeType::SWITCH, NodeType::CHANNEL_ADAPTER, NodeType::ROUTER] {
        let numbers = (0..fabric.nodes.len()).rev();
        numbers.filter(|number| fabric.nodes[*number].info.node_type == kind).for_each(|number| fabric.print(number));
    }
    Ok(())
}
