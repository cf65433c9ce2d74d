//! What becomes of an option that has another value when the files are read again.
use acm_wire::files::opts::Opt;

/// When another value of an option counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    /// For what comes after SIGHUP.
    Reload,
    /// After a restart.
    Restart,
    /// Never: C ibacm knows it, and nothing here depends on it.
    Nothing(&'static str),
}

/// When another value of an option counts: the column "reload" of `docs/operations.md`.
pub(crate) const fn effect(option: &Opt<'_>) -> Effect {
    match option {
        Opt::LogFile(_)
        | Opt::LogLevel(_)
        | Opt::AddrTimeout(_)
        | Opt::RouteProt(_)
        | Opt::RouteTimeout(_)
        | Opt::Timeout(_)
        | Opt::Retries(_)
        | Opt::ResolveDepth(_)
        | Opt::SaDepth(_)
        | Opt::RoutePreload(_)
        | Opt::RouteDataFile(_)
        | Opt::AddrPreload(_)
        | Opt::AddrDataFile(_)
        | Opt::SupportIpsInAddrCfg(_)
        | Opt::Connections(_)
        | Opt::ConnectionShare(_)
        | Opt::Requests(_)
        | Opt::RequestShare(_)
        | Opt::Lookups(_)
        | Opt::LookupShare(_)
        | Opt::StrangerQueue(_)
        | Opt::RequestsPerClient(_)
        | Opt::MetricsListen(_)
        | Opt::Provider(_) => Effect::Reload,
        Opt::LockFile(_)
        | Opt::LoopbackProt(_)
        | Opt::ServerPort(_)
        | Opt::ServerMode(_)
        | Opt::AcmePlusKernelOnly(_)
        | Opt::InterfaceAddresses(_)
        | Opt::SaNotices(_)
        | Opt::Groups(_)
        | Opt::SendDepth(_)
        | Opt::RecvDepth(_)
        | Opt::MinMtu(_)
        | Opt::MinRate(_) => Effect::Restart,
        Opt::UmadDebugLevel(_) => Effect::Nothing("there is no libibumad"),
        Opt::AddrProt(_) => Effect::Nothing("it has one value"),
        Opt::ProviderLibPath(_) => Effect::Nothing("the provider is built in"),
    }
}
