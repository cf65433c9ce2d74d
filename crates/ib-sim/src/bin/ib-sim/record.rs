//! Recording the packets of the fabric in a file.
use acm_trace::{FabricRecorder, GlobalHeader, PacketHeaders};
use ib_mad::packet::{Grh, GrhFlow};
use ib_sim::{Crossing, server::Watcher};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
    time::SystemTime,
};

/// A trace of the fabric. If the file cannot be written, the recording ends and the fabric continues.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    /// `None` after a failed write.
    recorder: Option<FabricRecorder<BufWriter<File>>>,
}

impl Record {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        #[expect(clippy::disallowed_methods, reason = "the date of the recording, which no decision depends on")]
        let epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let recorder = FabricRecorder::new(BufWriter::new(File::create(path)?), epoch)?;
        Ok(Self { path: path.to_path_buf(), recorder: Some(recorder) })
    }

    fn check(&mut self, result: io::Result<()>) {
        if let Err(error) = result {
            eprintln!("ib-sim: {}: {error}; the recording ends here", self.path.display());
            self.recorder = None;
        }
    }
}

impl Watcher for Record {
    fn crossed(&mut self, crossing: &Crossing) {
        let Some(recorder) = &mut self.recorder else { return };
        let result = recorder.crossing(crossing.at, &entry(crossing));
        self.check(result);
    }

    fn idle(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            let result = recorder.get_mut().flush();
            self.check(result);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            let result = recorder.finish().map(drop);
            self.check(result);
        }
    }
}

fn entry(crossing: &Crossing) -> acm_trace::Crossing {
    let Crossing { delivered, port, slid, dlid, sl, pkey, source, dest, qkey, ref grh, ref payload, .. } = *crossing;
    let global = grh.map(|Grh { flow, hop_limit, sgid, dgid, .. }| GlobalHeader {
        sgid,
        dgid,
        flow: GrhFlow::with_ip_version(flow, 0),
        hop_limit,
    });
    let headers = PacketHeaders { slid, dlid, sl, pkey, source, dest, qkey, global };
    acm_trace::Crossing { delivered, node: port.node.get(), port: port.port, headers, payload: payload.to_vec() }
}
