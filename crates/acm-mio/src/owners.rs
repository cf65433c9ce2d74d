//! Owners of subordinate uids: all uids that `/etc/subuid` gives to one user are one account.
//!
//! A user can act as each of these uids in a user namespace, and would otherwise have 65,537 accounts. The files are
//! read without the system's name services, which may wait for a network.
use crate::regular::{self, State};
use acm_sansio::Account;
use core::ops::RangeInclusive;
use std::{
    collections::BTreeMap,
    io::{self, ErrorKind, Read},
    path::{Path, PathBuf},
};

/// Size of the largest file in bytes. The event loop reads both: 1 MiB takes milliseconds.
const LARGEST: u64 = 1 << 20;

/// The ranges of subordinate uids, with their owners.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Owners {
    /// Last uid and owner of each range, by its first uid. Ranges that overlap have one owner.
    ranges: BTreeMap<u32, (u32, u32)>,
    files: Option<Files>,
}

/// The files of the owners, with the state of the first before it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Files {
    subuid: PathBuf,
    passwd: PathBuf,
    state: State,
}

impl Owners {
    /// Reads `/etc/subuid`, and `/etc/passwd` for the names in it. Adds a problem for each line that cannot be used. A
    /// missing file is none.
    pub(crate) fn read(problems: &mut Vec<String>) -> Self {
        Self::read_from(Path::new("/etc/subuid"), Path::new("/etc/passwd"), problems)
    }

    /// Reads the files again if `/etc/subuid` has changed. Its problems are reported at the next reload.
    pub(crate) fn read_again(&self) -> Option<Self> {
        let Files { subuid, passwd, state } = self.files.as_ref()?;
        (regular::state(subuid) != *state).then(|| Self::read_from(subuid, passwd, &mut Vec::new()))
    }

    pub(crate) fn read_from(subuid: &Path, passwd: &Path, problems: &mut Vec<String>) -> Self {
        let state = regular::state(subuid);
        let mut read = |path: &Path| match read_file(path) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
            Err(error) => {
                problems.push(format!("{}: {error}; subordinate uids are accounts of their own", path.display()));
                String::new()
            }
        };
        let (text, users) = (read(subuid), read(passwd));
        let (mut owners, malformed) = Self::parse(&text, &users);
        owners.files = Some(Files { subuid: subuid.to_owned(), passwd: passwd.to_owned(), state });
        let place = subuid.display();
        let describe =
            |number| format!("{place}:{number}: expected NAME:FIRST:COUNT; its uids are accounts of their own");
        problems.extend(malformed.into_iter().map(describe));
        owners
    }

    /// Returns the ranges of a text, and the numbers of its malformed lines.
    fn parse(text: &str, passwd: &str) -> (Self, Vec<usize>) {
        let uids: BTreeMap<&str, u32> = passwd.lines().filter_map(user).collect();
        // A name without an entry, such as a user of a directory service, is represented by its first subordinate uid.
        let mut unknown = BTreeMap::new();
        let (mut ranges, mut malformed) = (Vec::new(), Vec::new());
        for (index, line) in text.lines().enumerate() {
            if line.trim().is_empty() || line.starts_with('#') {
                continue;
            }
            let Some((name, uids_of_name)) = range(line) else {
                malformed.push(index + 1);
                continue;
            };
            let number = name.parse().ok().or_else(|| uids.get(name).copied());
            let owner = number.unwrap_or_else(|| *unknown.entry(name).or_insert(*uids_of_name.start()));
            ranges.push((uids_of_name, owner));
        }
        ranges.sort_unstable_by_key(|(uids, owner)| (*uids.start(), *owner));
        let mut owners = Self::default();
        for (uids, owner) in ranges {
            match owners.ranges.last_entry() {
                // The uids of two owners are shared, and so is their account.
                Some(mut last) if last.get().0 >= *uids.start() => {
                    let end = &mut last.get_mut().0;
                    *end = (*end).max(*uids.end());
                }
                _ => {
                    owners.ranges.insert(*uids.start(), (*uids.end(), owner));
                }
            }
        }
        (owners, malformed)
    }

    /// Returns the account that is charged for what an account does.
    pub(crate) fn account_of(&self, account: Account) -> Account {
        match account {
            Account::User(uid) => Account::User(self.owner_of(uid)),
            other => other,
        }
    }

    fn owner_of(&self, uid: u32) -> u32 {
        match self.ranges.range(..=uid).next_back() {
            Some((_, (last, owner))) if uid <= *last => *owner,
            _ => uid,
        }
    }
}

fn read_file(path: &Path) -> io::Result<String> {
    let mut text = Vec::new();
    regular::open(path)?.0.take(LARGEST + 1).read_to_end(&mut text)?;
    if u64::try_from(text.len()).is_ok_and(|size| size > LARGEST) {
        return Err(io::Error::new(ErrorKind::FileTooLarge, "it has more than 1 MiB"));
    }
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Returns the name and the uids of a line of `/etc/subuid` (subuid(5)).
fn range(line: &str) -> Option<(&str, RangeInclusive<u32>)> {
    let mut fields = line.trim_end().split(':');
    let (name, first, count) = (fields.next()?, fields.next()?, fields.next()?);
    let (first, count): (u32, u32) = (first.parse().ok()?, count.parse().ok()?);
    let last = first.checked_add(count.checked_sub(1)?)?;
    (!name.is_empty() && fields.next().is_none()).then_some((name, first..=last))
}

/// Returns the name and the uid of a line of `/etc/passwd` (passwd(5)).
fn user(line: &str) -> Option<(&str, u32)> {
    let mut fields = line.split(':');
    let (name, _, uid) = (fields.next()?, fields.next()?, fields.next()?);
    Some((name, uid.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    const PASSWD: &str = "root:x:0:0:root:/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\nbroken\n";

    fn owners<const N: usize>(text: &str, uids: [u32; N]) -> [u32; N] {
        let (owners, malformed) = Owners::parse(text, PASSWD);
        assert_eq!(malformed, [0; 0], "{text}");
        uids.map(|uid| owners.owner_of(uid))
    }

    #[test]
    fn uids_of_a_range_belong_to_its_owner() {
        let text = "ann:100000:65536\n\n# a comment\n1001:165536:10\nann:300000:1\n";
        let uids = [99_999, 100_000, 165_535, 165_536, 165_545, 165_546, 300_000, 300_001, 1000, 0];
        let expected = [99_999, 1000, 1000, 1001, 1001, 165_546, 1000, 300_001, 1000, 0];
        assert_eq!(owners(text, uids), expected);
        assert_eq!(owners("", [100_000]), [100_000]);
        assert_eq!(owners("0:4294967295:1\n", [u32::MAX]), [0]);
    }

    #[test]
    fn ranges_of_an_unknown_name_are_one_account() {
        assert_eq!(owners("eve:300000:10\neve:200000:10\n", [300_009, 200_000]), [300_000; 2]);
    }

    #[test]
    fn ranges_that_overlap_have_one_owner() {
        assert_eq!(owners("7:100:10\n8:105:10\n9:115:1\n", [100, 105, 109, 110, 114, 115]), [7, 7, 7, 7, 7, 9]);
        assert_eq!(owners("7:100:100\n8:110:5\n9:120:1\n", [109, 110, 120, 199]), [7; 4]);
    }

    #[test]
    fn malformed_line_is_reported_with_its_place_and_others_are_used() {
        let dir = tempfile::tempdir().unwrap();
        let (subuid, passwd) = (dir.path().join("subuid"), dir.path().join("passwd"));
        let mut problems = Vec::new();
        assert_eq!(Owners::read_from(&subuid, &passwd, &mut problems).ranges, BTreeMap::new());
        assert!(problems.is_empty(), "there are no files: {problems:?}");
        let lines = ["ann:100000", ":1:1", "ann:x:1", "ann:1:0", "ann:4294967295:2", "ann:1:1:1", "ann:5:1"];
        fs::write(&subuid, lines.join("\n")).unwrap();
        fs::write(&passwd, PASSWD).unwrap();
        let owners = Owners::read_from(&subuid, &passwd, &mut problems);
        assert_eq!(owners.account_of(Account::User(5)), Account::User(1000));
        let expected = (1..7).map(|line| {
            format!("{}:{line}: expected NAME:FIRST:COUNT; its uids are accounts of their own", subuid.display())
        });
        assert_eq!(problems, expected.collect::<Vec<_>>());
        problems.clear();
        fs::write(&subuid, "# ".repeat(1 << 19) + "#").unwrap();
        Owners::read_from(&subuid, &passwd, &mut problems);
        let expected =
            format!("{}: it has more than 1 MiB; subordinate uids are accounts of their own", subuid.display());
        assert_eq!(problems, [expected]);
    }

    #[test]
    fn other_accounts_have_no_owner() {
        let (owners, _) = Owners::parse("7:0:100\n", "");
        let peer = Account::Peer([0, 0, 0, 9].into());
        assert_eq!([peer, Account::Kernel].map(|account| owners.account_of(account)), [peer, Account::Kernel]);
    }
}
