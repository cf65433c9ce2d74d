//! The provider under test. The name of its first address selects its behaviour.
use acm_provider::{
    abi,
    plugin::{Address, Endpoint, Port, Provider, Refused, Request, SaRefused, glue},
};
use core::ffi::{CStr, c_void};
use ib_mad::{
    Lid, TransactionId,
    sa::{PathRecord, SaMad},
};
use std::{
    sync::{Arc, Mutex, OnceLock, mpsc},
    thread,
};

acm_provider::export!(Trial, "trial");

struct Trial;

/// The partition whose endpoints are refused.
pub(crate) const REFUSED: u16 = 0x8fff;

/// Handles that are kept longer than their endpoints.
static KEPT: Mutex<Vec<Endpoint>> = Mutex::new(Vec::new());
/// Responses, each with the partition of its endpoint.
static RESPONSES: Mutex<Vec<(u16, String)>> = Mutex::new(Vec::new());

fn kept(pkey: u16) -> Endpoint {
    KEPT.lock().unwrap().iter().find(|endpoint| endpoint.pkey().get() == pkey).unwrap().clone()
}

/// Sends a request to the SA from the endpoint in this partition, with a handler that holds `held`.
pub(crate) fn ask_sa_holding(pkey: u16, held: Arc<()>) -> Result<(), SaRefused> {
    kept(pkey).ask_sa(&SaMad::default(), move |_| drop(held))
}

/// Sends a request to the SA from the endpoint in this partition.
pub(crate) fn ask_sa(pkey: u16) -> Result<(), SaRefused> {
    let mut request = SaMad::default();
    request.header.transaction_id = TransactionId::new(0x1122_3344_5566_7788);
    kept(pkey).ask_sa(&request, move |response| {
        let text = match response {
            Ok(mad) => format!("answer with tid {:#x}", u64::from_be_bytes(mad[8..16].try_into().unwrap())),
            Err(failure) => failure.to_string(),
        };
        RESPONSES.lock().unwrap().push((pkey, text));
    })
}

/// Takes the responses that the endpoint in this partition received.
pub(crate) fn sa_responses(pkey: u16) -> Vec<String> {
    RESPONSES.lock().unwrap().extract_if(.., |(other, _)| *other == pkey).map(|(_, text)| text).collect()
}

pub(crate) fn gid(pkey: u16) -> Option<[u8; 16]> {
    kept(pkey).port().gid(0).map(|gid| gid.get())
}

static REMOVED: Mutex<Vec<String>> = Mutex::new(Vec::new());
static REREGISTRATIONS: Mutex<usize> = Mutex::new(0);

/// Takes the names that were removed.
pub(crate) fn removed() -> Vec<String> {
    core::mem::take(&mut REMOVED.lock().unwrap())
}

pub(crate) fn reregistrations() -> usize {
    *REREGISTRATIONS.lock().unwrap()
}

/// The parts of a request that a provider reads.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Inspected {
    pub(crate) path: Option<Lid>,
    pub(crate) source: Option<Address>,
    pub(crate) chose_source: bool,
    pub(crate) no_delay: bool,
    pub(crate) length: usize,
}

static INSPECTED: Mutex<Vec<Inspected>> = Mutex::new(Vec::new());

/// Takes the requests at an endpoint with the address `inspect`.
pub(crate) fn inspected() -> Vec<Inspected> {
    core::mem::take(&mut INSPECTED.lock().unwrap())
}

fn inspect(request: &Request) {
    INSPECTED.lock().unwrap().push(Inspected {
        path: request.requested_path().map(|path| path.dlid),
        source: request.source(),
        chose_source: request.chose_source(),
        no_delay: request.no_delay(),
        length: request.to_bytes().len(),
    });
}

impl Provider for Trial {
    type Port = ();
    type Endpoint = Mutex<Vec<Address>>;

    fn load() -> Result<Self, Refused> {
        Ok(Self)
    }

    fn open_port(&self, port: &Port) -> Result<(), Refused> {
        assert_eq!((port.device(), port.node_guid(), port.number(), port.gids().len()), (None, [1; 8], 1, 1));
        Ok(())
    }

    fn open_endpoint(&self, (): &(), endpoint: &Endpoint) -> Result<Self::Endpoint, Refused> {
        KEPT.lock().unwrap().push(endpoint.clone());
        if endpoint.pkey().get() == REFUSED { Err(Refused::new("this partition")) } else { Ok(Mutex::default()) }
    }

    fn add_address(&self, endpoint: &Self::Endpoint, address: &Address) -> Result<(), Refused> {
        if *address == Address::from_text("refused") {
            return Err(Refused::new("not this one\n, nor a forged line"));
        }
        if *address == Address::from_text("panic at add") {
            panic!("expected by the test");
        }
        endpoint.lock().unwrap().push(*address);
        Ok(())
    }

    fn remove_address(&self, _endpoint: &Self::Endpoint, address: &Address) {
        if *address == Address::from_text("removed") {
            REMOVED.lock().unwrap().push(address.to_string());
        }
    }

    fn reregister(&self, (): &()) {
        *REREGISTRATIONS.lock().unwrap() += 1;
    }

    fn resolve(&self, endpoint: &Self::Endpoint, request: Request) {
        let what = endpoint.lock().unwrap()[0].to_string();
        match what.as_str() {
            "answer" => {
                assert_eq!(request.destination(), Some(Address::from_text("node2")));
                assert_eq!(request.source(), Some(Address::from_text("10.77.0.1")));
                thread::spawn(|| request.answer(&PathRecord { dlid: Lid::new(2), ..PathRecord::default() }));
            }
            "inspect" => inspect(&request),
            "panic" => panic!("expected by the test"),
            "elsewhere" => {
                let (sender, receiver) = mpsc::channel();
                sender.send(request).unwrap();
                drop(receiver);
            }
            _ => {}
        }
    }

    fn query(&self, endpoint: &Self::Endpoint, request: Request) {
        if endpoint.lock().unwrap()[0] == Address::from_text("inspect") {
            inspect(&request);
            request.answer(&PathRecord { dlid: Lid::new(2), ..PathRecord::default() });
        }
    }

    fn counters(&self, _endpoint: &Self::Endpoint) -> Vec<u64> {
        (1..=20).collect()
    }
}

/// A provider that refuses to load.
struct Refusing;

impl Provider for Refusing {
    type Port = ();
    type Endpoint = ();

    fn load() -> Result<Self, Refused> {
        Err(Refused::new("not today"))
    }
    fn open_port(&self, _: &Port) -> Result<(), Refused> {
        Ok(())
    }
    fn open_endpoint(&self, (): &(), _: &Endpoint) -> Result<(), Refused> {
        Ok(())
    }
    fn resolve(&self, (): &(), _: Request) {}
}

impl glue::Exported for Refusing {
    type Provider = Self;
    fn cell() -> &'static OnceLock<Self> {
        static CELL: OnceLock<Refusing> = OnceLock::new();
        &CELL
    }
}

/// Requests the provider that refuses, as `provider_query` does.
pub(crate) fn refused_to_load(provider: *mut *mut abi::Provider, version: *mut u32, function: *const c_void) -> i32 {
    const NAME: &CStr = c"trial";
    static TABLE: glue::Table = glue::Table::of::<Refusing>(NAME);
    // SAFETY: the caller provides writable memory for both.
    unsafe { TABLE.give::<Refusing>(provider, version, NAME, function) }
}
