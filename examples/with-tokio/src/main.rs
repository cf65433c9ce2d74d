//! Resolves all addresses at once: `with-tokio SOCKET SOURCE ADDRESS...`.
use acm_client::{Address, Request, Response};
use std::{env, path::PathBuf, process::ExitCode, time::Duration};
use with_tokio::AsyncClient;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let mut words = env::args().skip(1);
    let (Some(socket), Some(source)) = (words.next(), words.next()) else {
        eprintln!("with-tokio SOCKET SOURCE ADDRESS...");
        return ExitCode::from(2);
    };
    let client = match AsyncClient::connect(&PathBuf::from(&socket)).await {
        Ok(client) => client,
        Err(error) => {
            eprintln!("{socket}: {error}; is the daemon running?");
            return ExitCode::FAILURE;
        }
    };
    let source = Some(Address::from_text(&source));
    let tasks = words.map(|address| {
        let client = client.clone();
        tokio::spawn(async move {
            let request = Request::Resolve { source, dest: Address::from_text(&address), conditions: None, no_delay: false };
            (client.ask(request, Duration::from_secs(10)).await, address)
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        match task.await {
            Ok((Some(Response::Path(found)), address)) => println!("{address}: LID {}", found.path.dlid),
            Ok((Some(Response::Refused(status)), address)) => println!("{address}: {status}"),
            Ok((_, address)) => println!("{address}: no answer"),
            Err(error) => println!("{error}"),
        }
    }
    ExitCode::SUCCESS
}
