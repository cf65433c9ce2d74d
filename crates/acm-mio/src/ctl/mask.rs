//! Replaces names and IP addresses in texts.
use core::net::{Ipv4Addr, Ipv6Addr};
use std::collections::BTreeMap;

/// Replaces names and IP addresses by numbered words, which are the same in all texts. GIDs, LIDs and GUIDs stay.
#[derive(Clone, Debug, Default)]
pub(super) struct Mask {
    words: BTreeMap<String, String>,
}

impl Mask {
    /// Adds a name: it is replaced, also in front of a domain.
    pub(super) fn add(&mut self, name: &str) {
        let name = name.split('.').next().unwrap_or(name);
        let is_text = name.contains(|letter: char| letter.is_ascii_alphabetic());
        if is_text && !name.contains(':') && !name.starts_with("LID ") {
            self.replacement(&name.to_lowercase(), "host");
        }
    }

    /// Adds the names in the lines of a log: destinations, sources that are not local, and those of `acmctl log-level`.
    pub(super) fn add_names_in(&mut self, log: &str) {
        for start in ["dest=\"", "source address ", "lines about "] {
            let names = log.split(start).skip(1).filter_map(|rest| rest.split(['"', ' ', ',', '*', '\n']).next());
            names.for_each(|name| self.add(name));
        }
    }

    fn replacement(&mut self, word: &str, kind: &str) -> String {
        let number = self.words.len() + 1;
        self.words.entry(word.to_owned()).or_insert_with(|| format!("{kind}{number}")).clone()
    }

    /// Returns a text without the names that were added, and without IP addresses.
    pub(super) fn text(&mut self, text: &str) -> String {
        let is_of_word = |letter: char| letter.is_alphanumeric() || "._:-".contains(letter);
        let mut masked = String::with_capacity(text.len());
        let mut rest = text;
        while !rest.is_empty() {
            let end = rest.find(|letter| !is_of_word(letter)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(end);
            masked += &self.word(word);
            let end = after.find(is_of_word).unwrap_or(after.len());
            let (between, after) = after.split_at(end);
            masked += between;
            rest = after;
        }
        masked
    }

    fn word(&mut self, whole: &str) -> String {
        let word = whole.trim_end_matches(['.', ':']);
        // `10.0.0.1:6125`, and `node1:` in front of a text.
        for end in [Some(word.len()), word.rfind(':')].into_iter().flatten() {
            let (word, rest) = whole.split_at(end);
            if let Some(masked) = self.masked(word) {
                return masked + rest;
            }
        }
        whole.to_owned()
    }

    fn masked(&mut self, word: &str) -> Option<String> {
        let is_gid = |ip: &Ipv6Addr| ip.is_unicast_link_local() || ip.is_multicast() || ip.is_unspecified();
        let is_ip = word.parse::<Ipv4Addr>().is_ok() || word.parse().is_ok_and(|ip| !is_gid(&ip));
        if is_ip {
            return Some(self.replacement(word, "ip"));
        }
        let name = word.split('.').next()?.to_lowercase();
        self.words.get(&name).cloned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_addresses_are_replaced_by_the_same_words_everywhere() {
        let mut mask = Mask::default();
        ["Login1.site.example", "node2", "7", "LID 5", "fe80::1"].into_iter().for_each(|name| mask.add(name));
        mask.add_names_in("resolved dest=\"node3\"\nx dest=\"fe80::2\"");
        let text = "login1: node2 at 10.0.0.1:6125, \"NODE3.site.example\" node22 LID 5 fe80::1 ff12:: 7, fd00::5.";
        let masked = "host1: host2 at ip4:6125, \"host3\" node22 LID 5 fe80::1 ff12:: 7, ip5.";
        assert_eq!(mask.text(text), masked);
        assert_eq!(mask.text("10.0.0.1 login1\n"), "ip4 host1\n");
        let log = "source address secret is not ours\nlog level 2 of lines about vault*, for 10m";
        mask.add_names_in(log);
        assert_eq!(mask.text(log), "source address host6 is not ours\nlog level 2 of lines about host7*, for 10m");
        assert_eq!(mask.text("2026-01-31T12:34:56.789: acm: 1.2.3"), "2026-01-31T12:34:56.789: acm: 1.2.3");
    }
}
