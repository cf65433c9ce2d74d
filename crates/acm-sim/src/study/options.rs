//! Options of a study.
use super::lab;
use ib_sim::Settings;

/// Options of a study.
#[derive(Clone, Debug)]
pub struct Options {
    /// Number of nodes.
    pub nodes: u32,
    /// Seed of all random numbers.
    pub seed: u64,
    /// Number of paths or names of each node; `None` for the study's default.
    pub per_node: Option<u32>,
    /// The only run of `job`, by its name; `None` for all.
    pub only: Option<&'static str>,
    /// True for the option `witness`: each witness is received by all nodes, which takes minutes with many of them.
    pub witness: bool,
    /// Settings of the subnet.
    pub settings: Settings,
}

impl Options {
    /// Returns the options of a study with this many nodes: seed 1, and the subnet that `docs/scale.md` describes.
    #[must_use]
    pub fn new(nodes: u32) -> Self {
        Self { nodes, seed: 1, per_node: None, only: None, witness: false, settings: lab::fabric() }
    }
}
