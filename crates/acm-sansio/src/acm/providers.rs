//! The providers of a core, by id.
use crate::{
    api::{account::AccountId, id::ProviderId},
    external::External,
    provider::{Context, Provider},
    shared::ensure,
};
use alloc::{boxed::Box, collections::BTreeMap, format, string::String, vec::Vec};

/// The maximum number of providers beside the built-in one.
pub(crate) const MAX: u8 = 16;

/// The built-in provider, and those outside of the core.
#[derive(Debug)]
pub(crate) struct Providers {
    first: Box<dyn Provider>,
    /// By id, from 1.
    others: Vec<External>,
}

impl Providers {
    pub(crate) fn new(first: Box<dyn Provider>) -> Self {
        Self { first, others: Vec::new() }
    }

    /// Adds a provider outside of the core. Returns `None` if there are too many.
    pub(crate) fn add(&mut self, name: &str) -> Option<ProviderId> {
        let number = u8::try_from(self.others.len() + 1).ok().filter(|number| *number <= MAX)?;
        let id = ProviderId(number);
        self.others.push(External::new(id, name));
        Some(id)
    }

    /// Reports whether a provider with this id exists.
    pub(crate) fn has(&self, id: ProviderId) -> bool {
        usize::from(id.0) <= self.others.len()
    }

    /// Returns the name of a provider, as in EP responses.
    pub(crate) fn name(&self, id: ProviderId) -> &str {
        index(id).and_then(|index| self.others.get(index)).map_or("ibacmp", External::name)
    }

    /// Reports whether the providers outside of the core have nothing open.
    pub(crate) fn are_closed(&self) -> bool {
        self.others.iter().all(External::is_closed)
    }

    /// Returns a provider. The ids of endpoints and tokens always exist.
    pub(crate) fn get(&self, id: ProviderId) -> &dyn Provider {
        match index(id).and_then(|index| self.others.get(index)) {
            None => self.first.as_ref(),
            Some(other) => other,
        }
    }

    /// Returns a provider for changes.
    pub(crate) fn get_mut(&mut self, id: ProviderId) -> &mut dyn Provider {
        match index(id).and_then(|index| self.others.get_mut(index)) {
            None => self.first.as_mut(),
            Some(other) => other,
        }
    }

    /// Returns a provider outside of the core.
    pub(crate) fn external(&mut self, id: ProviderId) -> Option<&mut External> {
        self.others.get_mut(index(id)?)
    }

    /// Returns all providers in the order of their ids.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &dyn Provider> {
        let others = self.others.iter().map(|other| -> &dyn Provider { other });
        core::iter::once(self.first.as_ref()).chain(others)
    }

    /// Calls `change` for each provider in the order of their ids, until it returns `true`.
    pub(crate) fn any(&mut self, mut change: impl FnMut(&mut dyn Provider) -> bool) -> bool {
        change(self.first.as_mut()) || self.others.iter_mut().any(|other| change(other))
    }

    /// Checks all providers, and that each account is charged for exactly the lookups that they hold for it, and its
    /// QUERY_SA requests.
    pub(crate) fn check(&self, cx: &Context) -> Result<(), String> {
        let mut needed: BTreeMap<AccountId, usize> = BTreeMap::new();
        let mut charged = |account| *needed.entry(account).or_default() += 1;
        self.iter().try_for_each(|provider| provider.check(cx, &mut charged))?;
        let queries = cx.clients.requests.all.iter().filter(|(_, request)| request.is_lookup());
        queries.for_each(|(_, request)| charged(request.account));
        for (account, id, held) in cx.shared.accounts.iter() {
            let lookups = needed.get(&id).copied().unwrap_or(0);
            ensure(held.lookups == lookups, || format!("{account} is charged {} of {lookups} lookups", held.lookups))?;
        }
        Ok(())
    }
}

/// Returns the index of a provider outside of the core.
fn index(id: ProviderId) -> Option<usize> {
    usize::from(id.0).checked_sub(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Acm, api::config::Config};

    #[test]
    fn sixteen_providers_may_be_added() {
        let config =
            Config { providers: (0..9).map(|number| alloc::format!("p{number}")).collect(), ..Config::default() };
        let mut acm = Acm::new(config, 1);
        let added: Vec<_> = (0..9).map(|_| acm.add_provider("more").map(|id| id.0)).collect();
        assert_eq!(added, [Some(10), Some(11), Some(12), Some(13), Some(14), Some(15), Some(16), None, None]);
        assert_eq!((acm.config().providers.len(), acm.providers.iter().count()), (16, 17));
        assert!(acm.providers.has(ProviderId(16)) && !acm.providers.has(ProviderId(17)));
        let names = [0, 1, 16].map(|number| acm.providers.name(ProviderId(number)));
        assert_eq!(names, ["ibacmp", "p0", "more"]);
    }
}
