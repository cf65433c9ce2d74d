//! Runs a study and prints its table:
//! `cargo run --release -p acm-sim --example study -- NAME [--nodes N,N,...] [--seed S] [--per-node P]
//! [--only RUN] [--witness] [--set SETTING=VALUE] [--out DIR]`.
//! `--witness` sets the option `witness` of all nodes.
//! `--set` changes a setting of the subnet, such as `sa_busy_when_full=on` or `sa_loss=1%`.
//! With `--out` the table and a picture of the last run are written to files there. Without a name, lists the studies.
use acm_sim::study::{Options, Report, STUDIES, table};
use core::error::Error;
use std::{env, fs, time::Instant};

/// Returns a value of /proc/self/status in KB.
fn memory(name: &str) -> f64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let value = status.lines().find_map(|line| line.strip_prefix(name)?.split_whitespace().next()?.parse().ok());
    value.unwrap_or(0.0)
}

#[expect(clippy::disallowed_methods, reason = "the study has virtual time; this is the time that it takes to run")]
fn main() -> Result<(), Box<dyn Error>> {
    let (mut name, mut out, mut sizes) = (None, None, vec![300]);
    let mut options = Options::new(0);
    let mut words = env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--nodes" => sizes = value()?.split(',').map(str::parse).collect::<Result<_, _>>()?,
            "--seed" => options.seed = value()?.parse()?,
            "--per-node" => options.per_node = Some(value()?.parse()?),
            "--set" => {
                let value = value()?;
                let (name, value) = value.split_once('=').ok_or("--set needs SETTING=VALUE")?;
                options.settings.set(name, value).map_err(|error| format!("{name}: {error}"))?;
            }
            "--only" => options.only = Some(value()?.leak()),
            "--witness" => options.witness = true,
            "--out" => out = Some(value()?),
            _ => name = Some(word),
        }
    }
    let Some(study) = STUDIES.iter().find(|study| Some(study.name) == name.as_deref()) else {
        STUDIES.iter().for_each(|study| println!("{}: {}", study.name, study.about));
        return Ok(());
    };
    let mut runs: Vec<(u32, Report)> = Vec::new();
    for nodes in sizes {
        // Resets the peak of memory.
        fs::write("/proc/self/clear_refs", "5")?;
        let (start, before) = (Instant::now(), memory("VmRSS:"));
        let mut report = (study.run)(&Options { nodes, ..options.clone() });
        report.add("memory of a node (KB)", (memory("VmHWM:") - before) / f64::from(nodes));
        report.add("real time (s)", start.elapsed().as_secs_f64());
        eprintln!("{} nodes: {:.1} s", nodes, start.elapsed().as_secs_f64());
        runs.push((nodes, report));
    }
    let text = table(&runs);
    print!("{text}");
    if let (Some(out), Some((nodes, report))) = (out, runs.last()) {
        fs::create_dir_all(&out)?;
        let title = format!("{}, {nodes} nodes, seed {}", study.name, options.seed);
        fs::write(format!("{out}/{}.md", study.name), text)?;
        fs::write(format!("{out}/{}.svg", study.name), report.svg(&title))?;
    }
    Ok(())
}
