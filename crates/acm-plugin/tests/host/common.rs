//! A library made of `c/provider.c`, in a program that has it, and nobody else.
use acm_plugin::{Library, OpenDevice, OpenedDevice, PluginEvent, Plugins};
use acm_sansio::{
    EndpointId, PortId,
    api::{CallId, ExternalRequestId, ProviderCall, ProviderId, ProviderMessage},
    port::PortAttributes,
};
use acm_wire::Address;
use core::time::Duration;
use ib_mad::{Guid, Pkey};
use std::{
    ffi::CString,
    path::{Path, PathBuf},
    process::Command,
    sync::mpsc::{Receiver, channel},
};
use tempfile::TempDir;

/// However slow the machine is.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
pub(crate) const PROVIDER: ProviderId = ProviderId(1);
pub(crate) const PORT: PortId = PortId(7);
pub(crate) const ENDPOINT: EndpointId = EndpointId::new(2, 5);

/// Compiles the provider with these words for the compiler.
pub(crate) fn compile(folder: &Path, file: &str, words: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/provider.c");
    let library = folder.join(file);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-pthread"]).args(words);
    let done = compiler.arg("-o").arg(&library).arg(&source).output().expect("cc: install gcc");
    let said = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "install ibacm, libibumad-dev and libibverbs-dev, which have the headers: {said}");
    library
}

/// A loaded provider, and what it said.
pub(crate) struct Host {
    pub(crate) plugins: Plugins,
    woken: Receiver<()>,
    pub(crate) lines: Vec<String>,
    calls: u32,
    _folder: TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = compile(folder.path(), "libtest.so", &[]);
        let library = Library::open(&path).unwrap();
        Self::with(&library, OpenDevice::new(|_| Ok(OpenedDevice::new(core::ptr::dangling_mut(), ()))), folder)
    }

    pub(crate) fn with(library: &Library, devices: OpenDevice, folder: TempDir) -> Self {
        let (wake, woken) = channel();
        let wake = move || {
            let _ = wake.send(());
        };
        let mut plugins = Plugins::new(wake, CString::new("/tmp/opts").unwrap());
        plugins.start(PROVIDER, library, devices).unwrap();
        Self { plugins, woken, lines: Vec::new(), calls: 0, _folder: folder }
    }

    /// Makes a call, and does not wait for it.
    pub(crate) fn begin(&mut self, what: ProviderCall) -> CallId {
        self.calls += 1;
        let call = CallId::new(self.calls, 9);
        self.plugins.call(PROVIDER, Some(call), what);
        call
    }

    /// The next thing that is for the core.
    pub(crate) fn next(&mut self) -> ProviderMessage {
        loop {
            match self.plugins.take() {
                Some((from, event)) => {
                    assert_eq!(from, PROVIDER);
                    match event {
                        PluginEvent::Message(message) => return message,
                        PluginEvent::Line(line) => self.lines.push(line.text),
                        PluginEvent::LinesLost(count) => panic!("{count} lines lost"),
                    }
                }
                None => self.woken.recv_timeout(LIMIT).expect("the provider says nothing"),
            }
        }
    }

    /// Makes a call; what was said until it returned, and whether all was well.
    pub(crate) fn call(&mut self, what: ProviderCall) -> (Vec<ProviderMessage>, bool) {
        let waited = self.begin(what);
        let mut said = Vec::new();
        loop {
            match self.next() {
                ProviderMessage::Returned { call, is_ok } if call == waited => return (said, is_ok),
                other => said.push(other),
            }
        }
    }

    /// A call after which all is well, and nothing else was said.
    pub(crate) fn ok(&mut self, what: ProviderCall) {
        assert_eq!(self.call(what.clone()), (vec![], true), "{what:?}");
    }

    /// One port, one endpoint, one address.
    pub(crate) fn open(&mut self) {
        self.ok(open_port(PORT, 1));
        self.ok(ProviderCall::OpenEndpoint { endpoint: ENDPOINT, port: PORT, pkey: Pkey::DEFAULT_FULL });
        self.ok(ProviderCall::AddAddress { endpoint: ENDPOINT, address: source() });
    }

    pub(crate) fn take_lines(&mut self) -> Vec<String> {
        core::mem::take(&mut self.lines)
    }
}

pub(crate) fn source() -> Address {
    Address::from_text("node1")
}

pub(crate) fn open_port(port: PortId, number: u8) -> ProviderCall {
    let attributes = PortAttributes {
        device_guid: Guid::new(0x0002_c903_0001_0203),
        port_number: number,
        gids: vec!["fe80::1".parse().unwrap(), "fe80::2".parse().unwrap()],
        ..PortAttributes::default()
    };
    ProviderCall::OpenPort { port, attributes: Box::new(attributes) }
}

/// A request for what the provider shall do.
pub(crate) fn resolve(wish: &str, request: ExternalRequestId) -> ProviderCall {
    let (kind, bytes) = Address::from_text(wish).encode();
    let mut message = vec![1, 1, 0, 0, 0, 0];
    message.extend(88u16.to_ne_bytes());
    message.extend(77u64.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(u16::from(kind.get()).to_ne_bytes());
    message.extend([0, 0]);
    message.extend(bytes);
    ProviderCall::Resolve { request, endpoint: ENDPOINT, source: source(), message }
}

/// The request's message, answered.
pub(crate) fn answered(wish: &str, request: ExternalRequestId) -> ProviderMessage {
    let ProviderCall::Resolve { mut message, .. } = resolve(wish, request) else { unreachable!() };
    message[1] |= 0x80;
    ProviderMessage::ResolveResponse { request, message }
}
