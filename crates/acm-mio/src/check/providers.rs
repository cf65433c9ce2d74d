//! Libraries of providers that the options name: whether the daemon will load them.
use super::report::Report;
use crate::{providers, settings::Settings};

#[cfg(feature = "plugins")]
pub(super) fn look(settings: &Settings, report: &mut Report) {
    let start_dir = std::env::current_dir().unwrap_or_default();
    let providers::Looked { found, problems } = providers::look(settings, &start_dir);
    for (name, library) in found {
        let name = name.escape_debug();
        report.ok(format!("provider {name}: {} of {}", library.name(), library.path().display()));
    }
    for problem in problems {
        report.warn(
            problem,
            "correct the line `provider`, or `provider_lib_path`; until then its subnets are not served",
        );
    }
}

#[cfg(not(feature = "plugins"))]
pub(super) fn look(settings: &Settings, report: &mut Report) {
    for providers::Chosen { name, place } in providers::chosen(settings) {
        let what = format!("{place}: provider {}: not built in, and this program loads none", name.escape_debug());
        report.warn(what, "leave the line out, or build it with the feature `plugins`");
    }
}
