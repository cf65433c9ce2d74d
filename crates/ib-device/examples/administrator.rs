//! A subnet administrator with the paths between some LIDs, for the subnet manager's port: `administrator LID...`.
use core::error::Error;
use ib_device::umad::{Agent, Expect, Methods, ReceiveBuffer, Rmpp, UmadPort};
use ib_mad::{
    Lid, Method, MgmtClass, Mtu, Pkey, Rate, Selected, Status, as_bytes,
    sa::{PathRecord, Query, SaMad, TableWriter, table_length},
};
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use std::{os::fd::AsFd, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let lids = std::env::args().skip(1).map(|lid| lid.parse()).collect::<Result<Vec<Lid>, _>>()?;
    let (pkey, mtu, rate) = (Pkey::DEFAULT_FULL, Selected::exactly(Mtu::B2048), Selected::exactly(Rate::GBPS_100));
    let path = |slid, dlid| PathRecord { slid, dlid, pkey, mtu, rate, ..PathRecord::default() };
    let paths: Vec<_> = lids.iter().flat_map(|from| lids.iter().map(|to| path(*from, *to))).collect();
    let mut umad = UmadPort::open(Path::new("/dev/infiniband/umad0"))?;
    let methods = Methods::NONE.with(Method::GET).with(Method::GET_TABLE);
    let agent = Agent::client(MgmtClass::SUBN_ADM, MgmtClass::SUBN_ADM.version()).serving(methods);
    let agent = umad.register(&agent.with_rmpp(Rmpp::Kernel))?;
    println!("{} paths", paths.len());
    let mut buffer = ReceiveBuffer::default();
    loop {
        poll(&mut [PollFd::new(umad.as_fd(), PollFlags::POLLIN)], PollTimeout::NONE)?;
        let Some(received) = umad.receive(&mut buffer)? else { continue };
        umad.send(agent, &received.sender(), Expect::Nothing, &response(SaMad::parse(received.mad)?, &paths)?)?;
    }
}
fn response(request: &SaMad, paths: &[PathRecord]) -> Result<Vec<u8>, Box<dyn Error>> {
    let mut found = match Query::<PathRecord>::from_mad(request) {
        Ok(query) => query.select(paths),
        Err(_) => return Ok(as_bytes(&request.answer(Status::METHOD_ATTRIBUTE_NOT_SUPPORTED)?).to_vec()),
    };
    if request.header.method == Method::GET {
        return Ok(as_bytes(&request.answer_one(found)?).to_vec());
    }
    let mut table = TableWriter::new(request, vec![0; table_length::<PathRecord>(paths.len())])?;
    found.try_for_each(|path| table.push(path))?;
    Ok(table.finish().as_bytes().to_vec())
}
