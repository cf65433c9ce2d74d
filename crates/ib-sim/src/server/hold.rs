//! Messages of programs that wait until the operator of the simulation releases them, so that a test decides in which
//! order events happen.
use crate::{id::NodeId, proto::Kind};
use alloc::{collections::BTreeMap, format, string::String, vec::Vec};
use core::fmt::Write;
use mio::Token;

/// Maximum number of waiting messages of one node and kind. Further messages are lost.
const HELD: usize = 4096;

/// The kinds of messages that can be held, with their names in commands.
const KINDS: [(&str, Kind); 3] = [("attach", Kind::ATTACH), ("mad", Kind::MAD_OUT), ("datagram", Kind::DATAGRAM_OUT)];

/// A message, and the connection of the program that sent it.
pub(super) type Message = (Token, Vec<u8>);

/// Messages that wait, by node and kind. A node and kind without an entry is not held.
#[derive(Debug, Default)]
pub(super) struct Held(BTreeMap<(NodeId, Kind), Vec<Message>>);

impl Held {
    /// Keeps a message of a program at `node` if such messages are held. Returns `true` if it was kept.
    pub(super) fn keep(&mut self, node: NodeId, kind: Kind, token: Token, message: &[u8]) -> bool {
        let Some(waiting) = self.0.get_mut(&(node, kind)) else { return false };
        if waiting.len() < HELD {
            waiting.push((token, message.to_vec()));
        }
        true
    }

    pub(super) fn hold(&mut self, node: NodeId, name: &str) -> Result<(), String> {
        let kind = KINDS.iter().find(|(of, _)| *of == name).map(|(_, kind)| *kind);
        let kind = kind.ok_or_else(|| format!("{name}: expected attach, mad or datagram"))?;
        self.0.entry((node, kind)).or_default();
        Ok(())
    }

    /// Returns the messages of a node that wait, kind by kind, and holds no more of them.
    pub(super) fn release(&mut self, node: NodeId) -> Vec<Message> {
        KINDS.iter().flat_map(|(_, kind)| self.0.remove(&(node, *kind)).unwrap_or_default()).collect()
    }

    /// Returns a line for each node and kind that is held, with the number of waiting messages.
    pub(super) fn lines(&self) -> String {
        self.0.iter().fold(String::new(), |mut text, ((node, kind), waiting)| {
            let name = KINDS.iter().find(|(_, of)| of == kind).map(|(name, _)| *name).unwrap_or_default();
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{node} {name} {}", waiting.len());
            text
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn at_most_4096_messages_of_a_node_and_kind_wait() {
        let (mut held, [one, other]) = (Held::default(), [1, 2].map(NodeId::new));
        for node in [one, other] {
            held.hold(node, "mad").unwrap();
        }
        for number in 0..4097_u16 {
            assert!(held.keep(one, Kind::MAD_OUT, Token(0), &number.to_be_bytes()));
        }
        assert!(held.keep(other, Kind::MAD_OUT, Token(0), &[]) && !held.keep(one, Kind::ATTACH, Token(0), &[]));
        assert_eq!(held.lines(), "1 mad 4096\n2 mad 1\n");
        let released = held.release(one);
        assert_eq!((released.len(), released.last().unwrap().1.as_slice()), (4096, &4095_u16.to_be_bytes()[..]));
    }
}
