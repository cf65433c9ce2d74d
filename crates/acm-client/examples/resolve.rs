//! Resolves the path to each address: `resolve [--service SERVICE] [--source ADDRESS] ADDRESS...`.
use acm_client::{Address, Client, ClientError, Service};
use clap::Parser;

#[derive(Parser)]
struct Args {
    /// The daemon: the path of its socket, or a host and its port. The default is the address that librdmacm uses.
    #[arg(long)]
    service: Option<Service>,
    /// A local address; required to resolve names.
    #[arg(long)]
    source: Option<String>,
    /// Host names and IP addresses.
    #[arg(required = true)]
    addresses: Vec<String>,
}

fn main() -> Result<(), ClientError> {
    let args = Args::parse();
    let service = args.service.map_or_else(Service::find, Ok)?;
    let mut client = Client::connect(service)?;
    let source = args.source.as_deref().map(Address::from_text);
    for address in &args.addresses {
        match client.resolve(source.as_ref(), &Address::from_text(address)) {
            Ok(found) => println!("{address}: LID {}, GID {}, {}", found.path.dlid, found.path.dgid, found.path.pkey),
            Err(error) if error.status().is_some() => println!("{address}: {error}"),
            Err(error) => return Err(error),
        }
    }
    Ok(())
}
