//! Runs the job with ranks that send requests to the subnet administrator (SA). A process at each node runs the node's
//! ranks. Each rank has its own umad file.
use crate::{
    job::{Job, Outcome},
    now,
    site::Site,
};
use acm_client::{
    fabric::LocalPort,
    ib_mad::{
        AddressVector, Gid, MgmtClass, TransactionId, as_bytes,
        sa::{PathRecord, Query, SA_CLASS_VERSION},
    },
};
use core::{error::Error, time::Duration};
use hdrhistogram::Histogram;
use ib_device::umad::{Agent, AgentId, Expect, MadAddress, ReceiveBuffer, UmadPort};
use ib_mad::Method;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{
    collections::VecDeque,
    env,
    fs::File,
    io::{self, BufRead, BufReader, Read, Write},
    os::fd::AsFd,
    process::Stdio,
    time::Instant,
};

/// The time-out of each try and the number of retries. Requests must not fail under load.
const EXPECT: Expect = Expect::Response { timeout: Duration::from_secs(1), retries: 30 };
/// The maximum time without a response to any rank.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(60);

/// Runs the job. A process at each node prints that it is ready, waits for a byte on its input, sends the requests, and
/// prints the results and the latencies.
pub(crate) fn run(job: Job, site: &Site) -> Result<Outcome, Box<dyn Error>> {
    let mut command = site.at_nodes()?;
    command.arg(env::current_exe()?).args(["--ranks", &job.ranks.to_string(), "--nodes", &job.nodes.to_string()]);
    command.args(["--worker", &site.gids()?.join(",")]);
    let mut workers = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let (Some(mut input), Some(output)) = (workers.stdin.take(), workers.stdout.take()) else {
        return Err("no pipes".into());
    };
    let mut lines = BufReader::new(output).lines();
    for _ in 0..job.nodes {
        match lines.next().transpose()?.as_deref() {
            Some("ready") => {}
            other => return Err(format!("a worker reports {other:?}").into()),
        }
    }
    site.begin_counting()?;
    let mut latency = Histogram::new(3)?;
    let (mut found, mut missing, mut nodes) = (0, 0, 0);
    let start = now();
    input.write_all(&vec![b'\n'; usize::try_from(job.nodes)?])?;
    let mut took = Duration::ZERO;
    while nodes < job.nodes {
        let line = lines.next().transpose()?.ok_or("a worker ended early")?;
        match line.split(' ').collect::<Vec<_>>().as_slice() {
            ["done", good, bad] => {
                took = start.elapsed();
                found += good.parse::<u64>()?;
                missing += bad.parse::<u64>()?;
                nodes += 1;
            }
            ["waits", micros, count] => latency.record_n(micros.parse()?, count.parse()?)?,
            _ => return Err(format!("a worker reports {line:?}").into()),
        }
    }
    drop(input);
    for line in lines {
        if let ["waits", micros, count] = line?.split(' ').collect::<Vec<_>>().as_slice() {
            latency.record_n(micros.parse()?, count.parse()?)?;
        }
    }
    workers.wait()?;
    let (queries, repeated) = (job.paths(), site.fabric_counters(&["mad_retries"])?);
    let datagrams = queries + repeated + found;
    Ok(Outcome { name: "each rank asks the SA", found, missing, took, queries, repeated, datagrams, latency })
}

/// A rank. It sends one request at a time.
struct Rank {
    umad: UmadPort,
    agent: AgentId,
    peers: VecDeque<Gid>,
    /// The time of the request in flight.
    sent_at: Option<Instant>,
}

/// Runs the ranks of a node.
pub(crate) fn work(job: Job, gids: &str) -> Result<(), Box<dyn Error>> {
    let node: u32 = env::var("IB_SIM_NODE")?.trim_start_matches("node").parse()?;
    let gids = gids.split(',').map(str::parse).collect::<Result<Vec<Gid>, _>>()?;
    let local = LocalPort::find(None, None)?;
    let file = local.port.umad.as_ref().ok_or("no umad file")?;
    let to = MadAddress::general_services(
        AddressVector::local(local.port.sm_lid, local.port.sm_sl),
        local.port.sa_pkey_index(),
    );
    let mut ranks = Vec::new();
    for rank in job.ranks_of(node) {
        let umad = UmadPort::open(&file.path)?;
        let agent = umad.register(&Agent::client(MgmtClass::SUBN_ADM, SA_CLASS_VERSION))?;
        let gid = |node: u32| usize::try_from(node).ok().and_then(|node| gids.get(node.checked_sub(1)?)).copied();
        let peers = job.peers_of(rank).map(gid).collect::<Option<VecDeque<_>>>().ok_or("a node has no GID")?;
        ranks.push(Rank { umad, agent, peers, sent_at: None });
    }
    println!("ready");
    // All processes share the pipe: read exactly one byte.
    File::from(io::stdin().as_fd().try_clone_to_owned()?).read_exact(&mut [0])?;
    let own = local.gid();
    for rank in &mut ranks {
        rank.send_next(own, &to)?;
    }
    let (mut latency, mut buffer) = (Histogram::<u64>::new(3)?, ReceiveBuffer::default());
    let (mut found, mut missing) = (0_u64, 0_u64);
    while ranks.iter().any(|rank| rank.sent_at.is_some()) {
        let mut fds: Vec<_> = ranks.iter().map(|rank| PollFd::new(rank.umad.as_fd(), PollFlags::POLLIN)).collect();
        if poll(&mut fds, PollTimeout::try_from(RESPONSE_TIMEOUT)?)? == 0 {
            return Err(format!("no answer within {RESPONSE_TIMEOUT:?}").into());
        }
        let ready: Vec<bool> = fds.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        for (rank, _) in ranks.iter_mut().zip(ready).filter(|(_, ready)| *ready) {
            while let Some(received) = rank.umad.receive(&mut buffer)? {
                let is_good = received.failure().is_none() && received.mad_header()?.status.is_ok();
                if is_good {
                    found += 1
                } else {
                    missing += 1
                }
                if let Some(sent_at) = rank.sent_at {
                    latency.record(u64::try_from(sent_at.elapsed().as_micros())?)?;
                }
                rank.send_next(own, &to)?;
            }
        }
    }
    println!("done {found} {missing}");
    for waits in latency.iter_recorded() {
        println!("waits {} {}", waits.value_iterated_to(), waits.count_at_value());
    }
    Ok(())
}

impl Rank {
    fn send_next(&mut self, own: Gid, to: &MadAddress) -> Result<(), Box<dyn Error>> {
        self.sent_at = None;
        if let Some(dgid) = self.peers.pop_front() {
            let query = Query::<PathRecord>::new().sgid(own).dgid(dgid).reversible(true).num_path(1);
            let tid = TransactionId::new(u64::try_from(self.peers.len())?);
            self.umad.send(self.agent, to, EXPECT, as_bytes(&query.request(Method::GET, tid)))?;
            self.sent_at = Some(now());
        }
        Ok(())
    }
}
