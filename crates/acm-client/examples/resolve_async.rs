//! Resolves all addresses at once: `resolve_async SERVICE SOURCE ADDRESS...`.
use acm_client::{Address, ClientError, Service, tokio::Client};
use std::{env, process::ExitCode};

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<ExitCode, ClientError> {
    let mut words = env::args().skip(1);
    let (Some(service), Some(source)) = (words.next(), words.next()) else {
        eprintln!("resolve_async SERVICE SOURCE ADDRESS...");
        return Ok(ExitCode::from(2));
    };
    let client = Client::connect(service.parse::<Service>()?).await?;
    let source = Address::from_text(&source);
    let tasks = words.map(|address| {
        let client = client.clone();
        tokio::spawn(async move { (client.resolve(Some(&source), &Address::from_text(&address)).await, address) })
    });
    for task in tasks.collect::<Vec<_>>() {
        match task.await {
            Ok((Ok(found), address)) => println!("{address}: LID {}", found.path.dlid),
            Ok((Err(error), address)) => println!("{address}: {error}"),
            Err(error) => println!("{error}"),
        }
    }
    Ok(ExitCode::SUCCESS)
}
