//! Writes the seeds of the fuzz targets into `fuzz/corpus`: packets, messages and files of `testdata`.
//! Run it with `cargo run -p acm-fuzz --example seed`. libFuzzer adds inputs to the corpus, and `fuzz/run minimize`
//! removes inputs that cover nothing new.
use acm_trace::{Entry, Fact, OwnedInput, Reader};
use ib_mad::MadRef;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    io::Read,
    path::{Path, PathBuf},
};

/// Maximum length of a seed in bytes. A fuzzer finds more with short inputs.
const MAX_LENGTH: usize = 4096;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() {
    let mut seeds = Seeds::default();
    seeds.captures();
    seeds.traces();
    seeds.files();
    seeds.add("shm", acm_fuzz::shm_mapping());
    seeds.write();
}

#[derive(Default)]
struct Seeds(BTreeMap<&'static str, BTreeSet<Vec<u8>>>);

impl Seeds {
    fn add(&mut self, target: &'static str, bytes: impl Into<Vec<u8>>) {
        let mut bytes = bytes.into();
        bytes.truncate(MAX_LENGTH);
        self.0.entry(target).or_default().insert(bytes);
    }

    /// Adds one packet of each combination of class, method and attribute.
    fn captures(&mut self) {
        let file = fs::File::open(root().join("testdata/captures/mads-erf.pcap.gz")).unwrap();
        let mut bytes = Vec::new();
        flate2::read::GzDecoder::new(file).read_to_end(&mut bytes).unwrap();
        let mut reader = pcap_file::pcap::PcapReader::new(bytes.as_slice()).unwrap();
        let mut seen = BTreeSet::new();
        while let Some(packet) = reader.next_packet() {
            let packet = packet.unwrap().data.to_vec();
            let mad = &packet[packet.len() - 262..packet.len() - 6];
            let Ok(view) = MadRef::new(mad) else { continue };
            let header = view.header();
            if !seen.insert((header.mgmt_class, header.method, header.attribute_id)) {
                continue;
            }
            self.add("mad", mad);
            self.add("fields", mad);
            self.add("packets", &packet[16..]);
            self.add("umad", [&[0; 64], mad].concat());
        }
    }

    fn traces(&mut self) {
        for entry in fs::read_dir(root().join("testdata/traces")).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "pcapng") {
                continue;
            }
            let trace = fs::read(path).unwrap();
            self.add("traces", trace.as_slice());
            for entry in Reader::new(trace.as_slice()) {
                let Entry::Fact(dated) = entry.unwrap() else { continue };
                match dated.fact {
                    Fact::Input(OwnedInput::ClientMessage { message, .. }) => {
                        self.add("answers", message.as_slice());
                        self.add("client_stream", message);
                    }
                    Fact::Input(OwnedInput::Datagram { payload, .. }) => self.add("multicast", payload),
                    Fact::Input(OwnedInput::SaResponse { mad, .. } | OwnedInput::SaReport { mad, .. }) => {
                        self.add("mad", mad.as_slice());
                        self.add("fields", mad);
                    }
                    _ => {}
                }
            }
        }
        // Many inputs differ only in a number: keep at most 40 of each length.
        for all in self.0.values_mut() {
            let mut lengths = BTreeMap::<usize, usize>::new();
            all.retain(|bytes| {
                let count = lengths.entry(bytes.len()).or_default();
                *count += 1;
                *count <= 40
            });
        }
    }

    fn files(&mut self) {
        for (which, folder) in [(None, "config"), (Some(3), "prdump"), (None, "rtnetlink")] {
            for entry in fs::read_dir(root().join("testdata").join(folder)).unwrap() {
                let path = entry.unwrap().path();
                if path.extension().is_some_and(|extension| extension == "md") || !path.is_file() {
                    continue;
                }
                let bytes = fs::read(&path).unwrap();
                match (which, folder) {
                    (_, "rtnetlink") => self.add("rtnetlink", bytes),
                    (Some(which), _) => self.add("files", [&[which], bytes.as_slice()].concat()),
                    (None, _) => (0..3).for_each(|which| self.add("files", [&[which], bytes.as_slice()].concat())),
                }
            }
        }
    }

    fn write(&self) {
        for (target, all) in &self.0 {
            let folder = root().join("fuzz/corpus").join(target);
            fs::create_dir_all(&folder).unwrap();
            for (number, bytes) in all.iter().enumerate() {
                fs::write(folder.join(format!("seed-{number:03}")), bytes).unwrap();
            }
            println!("{target}: {}", all.len());
        }
    }
}
