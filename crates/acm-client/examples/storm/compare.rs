//! Runs the job with daemons and without, and prints both results side by side.
use crate::{
    args::Args,
    by_daemon, by_sa,
    job::{Job, Outcome},
    site::Site,
};
use core::error::Error;
use nix::sys::resource::{Resource, getrlimit, setrlimit};
use serde_json::{Value, json};

/// Runs both jobs on a simulated fabric and prints the results.
pub(crate) fn run(args: &Args, ranks: u32) -> Result<(), Box<dyn Error>> {
    let job = Job { ranks, nodes: args.nodes };
    if job.ranks < job.nodes {
        return Err("there are more nodes than ranks".into());
    }
    // Each rank uses a file in this process, in the fabric and in a daemon. The other processes inherit the limit.
    let (_, most) = getrlimit(Resource::RLIMIT_NOFILE)?;
    setrlimit(Resource::RLIMIT_NOFILE, most, most)?;
    if let Some(gids) = &args.worker {
        return by_sa::work(job, gids);
    }
    let mut site = Site::start(job.nodes, args.ibsim.as_deref(), &args.settings)?;
    let without_daemons = by_sa::run(job, &site)?;
    site.start_daemons()?;
    let with_daemons = by_daemon::run(job, &site)?;
    let administration = match &args.ibsim {
        Some(name) => format!("the subnet manager on ibsim {name}"),
        None if args.settings.is_empty() => "ib-sim's own".to_owned(),
        None => format!("ib-sim's own, {}", args.settings.join(", ")),
    };
    let outcomes = [without_daemons, with_daemons];
    if args.json {
        let jobs: Vec<Value> = outcomes.iter().map(json_of).collect();
        let (ranks, nodes) = (job.ranks, job.nodes);
        println!("{:#}", json!({ "ranks": ranks, "nodes": nodes, "sa": administration, "jobs": jobs }));
    } else {
        println!("{} ranks on {} nodes, {} paths; SA: {administration}\n", job.ranks, job.nodes, job.paths());
        print(&outcomes);
    }
    Ok(())
}

fn print([left, right]: &[Outcome; 2]) {
    println!("{:30}{:>24}{:>34}", "", left.name, right.name);
    let row = |what: &str, of: &dyn Fn(&Outcome) -> String| println!("{what:30}{:>24}{:>34}", of(left), of(right));
    row("paths found", &|job| job.found.to_string());
    row("paths not found", &|job| job.missing.to_string());
    row("until the last answer", &|job| format!("{:.3} s", job.took.as_secs_f64()));
    row("queries to the SA", &|job| job.queries.to_string());
    row("of them sent again", &|job| job.repeated.to_string());
    row("datagrams", &|job| job.datagrams.to_string());
    row("a rank's wait for a path, p50", &|job| format!("{} us", job.latency.value_at_quantile(0.5)));
    row("p99", &|job| format!("{} us", job.latency.value_at_quantile(0.99)));
    row("longest", &|job| format!("{} us", job.latency.max()));
}

fn json_of(job: &Outcome) -> Value {
    json!({
        "job": job.name,
        "found": job.found,
        "missing": job.missing,
        "seconds": job.took.as_secs_f64(),
        "sa_queries": job.queries,
        "repeated": job.repeated,
        "datagrams": job.datagrams,
        "wait_us": {
            "p50": job.latency.value_at_quantile(0.5),
            "p99": job.latency.value_at_quantile(0.99),
            "max": job.latency.max(),
        },
    })
}
