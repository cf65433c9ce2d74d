//! What crosses the fabric, in a file.
use acm_trace::{FabricRecorder, Global, Way};
use ib_mad::packet::{Grh, GrhFlow};
use ib_sim::{Crossing, server::Watcher};
use std::{
    fs::File,
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

/// A trace of the fabric. A file that cannot be written ends the recording and not the fabric.
#[derive(Debug)]
pub(crate) struct Record {
    path: PathBuf,
    /// `None` once it could not be written.
    recorder: Option<FabricRecorder<BufWriter<File>>>,
}

impl Record {
    pub(crate) fn create(path: &Path) -> io::Result<Self> {
        let recorder = FabricRecorder::new(BufWriter::new(File::create(path)?))?;
        Ok(Self { path: path.to_path_buf(), recorder: Some(recorder) })
    }

    fn keep(&mut self, done: io::Result<()>) {
        if let Err(error) = done {
            eprintln!("ib-sim: {}: {error}; the recording ends here", self.path.display());
            self.recorder = None;
        }
    }
}

impl Watcher for Record {
    fn crossed(&mut self, crossing: &Crossing) {
        let Some(recorder) = &mut self.recorder else { return };
        let done = recorder.crossing(crossing.at, &entry(crossing));
        self.keep(done);
    }

    fn idle(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            let done = recorder.get_mut().flush();
            self.keep(done);
        }
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        if let Some(recorder) = self.recorder.take() {
            let done = recorder.finish().map(drop);
            self.keep(done);
        }
    }
}

fn entry(crossing: &Crossing) -> acm_trace::Crossing {
    let Crossing { delivered, port, slid, dlid, sl, pkey, source, dest, qkey, ref grh, ref payload, .. } = *crossing;
    let global = grh.map(|Grh { flow, hop_limit, sgid, dgid, .. }| Global {
        sgid,
        dgid,
        flow: GrhFlow::with_ip_version(flow, 0),
        hop_limit,
    });
    let way = Way { slid, dlid, sl, pkey, source, dest, qkey, global };
    acm_trace::Crossing { delivered, node: port.node.get(), port: port.port, way, payload: payload.to_vec() }
}
