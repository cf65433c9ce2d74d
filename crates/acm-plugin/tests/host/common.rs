//! A host with the provider of `c/provider.c`.
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
    fs,
    path::{Path, PathBuf},
    process::Command,
    sync::{
        OnceLock,
        mpsc::{Receiver, channel},
    },
};
use tempfile::TempDir;

/// Time-out for a provider's response.
pub(crate) const LIMIT: Duration = Duration::from_secs(60);
pub(crate) const PROVIDER: ProviderId = ProviderId(1);
pub(crate) const PORT: PortId = PortId(7);
pub(crate) const ENDPOINT: EndpointId = EndpointId::new(2, 5);

/// Compiles the provider with additional options.
pub(crate) fn compile(folder: &Path, file: &str, options: &[&str]) -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/c/provider.c");
    let library = folder.join(file);
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-O2", "-Wall", "-Wextra", "-pthread"]).args(options);
    let output = compiler.arg("-o").arg(&library).arg(&source).output().expect("cc: install gcc");
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "install ibacm, libibumad-dev and libibverbs-dev for the headers: {errors}");
    library
}

/// A loaded provider, and its log lines.
pub(crate) struct Host {
    pub(crate) plugins: Plugins,
    woken: Receiver<()>,
    pub(crate) lines: Vec<String>,
    calls: u32,
    _folder: TempDir,
}

impl Host {
    pub(crate) fn new() -> Self {
        // Compiled once. Each host has a file of its own, because libraries are never closed.
        static LIBRARY: OnceLock<Vec<u8>> = OnceLock::new();
        let compiled = || fs::read(compile(tempfile::tempdir().unwrap().path(), "libtest.so", &[])).unwrap();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("libtest.so");
        fs::write(&path, LIBRARY.get_or_init(compiled)).unwrap();
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

    /// Starts a call.
    pub(crate) fn begin(&mut self, what: ProviderCall) -> CallId {
        self.calls += 1;
        let call = CallId::new(self.calls, 9);
        self.plugins.call(PROVIDER, Some(call), what);
        call
    }

    /// Waits for the next message for the core.
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
                None => self.woken.recv_timeout(LIMIT).expect("no message from the provider"),
            }
        }
    }

    /// Makes a call. Returns the messages until it returned, and whether it succeeded.
    pub(crate) fn call(&mut self, what: ProviderCall) -> (Vec<ProviderMessage>, bool) {
        let expected = self.begin(what);
        let mut messages = Vec::new();
        loop {
            match self.next() {
                ProviderMessage::Returned { call, is_ok } if call == expected => return (messages, is_ok),
                other => messages.push(other),
            }
        }
    }

    /// Makes a call that must succeed without messages.
    pub(crate) fn ok(&mut self, what: ProviderCall) {
        assert_eq!(self.call(what.clone()), (vec![], true), "{what:?}");
    }

    /// Opens a port with one endpoint and one address.
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

/// Returns a request. Its destination is the name of the action that the provider performs.
pub(crate) fn resolve(action: &str, request: ExternalRequestId) -> ProviderCall {
    let (kind, bytes) = Address::from_text(action).encode();
    let mut message = vec![1, 1, 0, 0, 0, 0];
    message.extend(88u16.to_ne_bytes());
    message.extend(77u64.to_ne_bytes());
    message.extend(0u32.to_ne_bytes());
    message.extend(u16::from(kind.get()).to_ne_bytes());
    message.extend([0, 0]);
    message.extend(bytes);
    ProviderCall::Resolve { request, endpoint: ENDPOINT, source: source(), message }
}

/// Returns the provider's response to a request.
pub(crate) fn response(action: &str, request: ExternalRequestId) -> ProviderMessage {
    let ProviderCall::Resolve { mut message, .. } = resolve(action, request) else { unreachable!() };
    message[1] |= 0x80;
    ProviderMessage::ResolveResponse { request, message }
}
