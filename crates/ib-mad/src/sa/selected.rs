//! MTU, rate and packet lifetime of a query: a value with a selector.
use super::{McMemberMask, McMemberRecord, MultiPathMask, MultiPathRecord, PathMask, PathRecord, Query};
use crate::{Mtu, PacketLifeTime, Rate, Selected, Selector, wire::Bits};

/// Returns the requested value and its selector, if the value is in the component mask. Without a selector in the mask,
/// the selector is [`Selector::Exactly`].
fn requested<T: Bits>(has_value: bool, has_selector: bool, own: Selected<T>) -> Option<Selected<T>> {
    has_value.then(|| if has_selector { own } else { Selected::exactly(own.parts().1) })
}

macro_rules! selected {
    ($($record:ident $mask:ident;)*) => {$(
        impl Query<$record> {
            /// Sets the MTU and its selector.
            #[must_use]
            pub fn mtu(mut self, selector: Selector, value: Mtu) -> Self {
                self.record.mtu = Selected::new(selector, value);
                self.also($mask::MTU_SELECTOR | $mask::MTU)
            }
            /// Sets the rate and its selector.
            #[must_use]
            pub fn rate(mut self, selector: Selector, value: Rate) -> Self {
                self.record.rate = Selected::new(selector, value);
                self.also($mask::RATE_SELECTOR | $mask::RATE)
            }
            /// Sets the packet lifetime and its selector.
            #[must_use]
            pub fn packet_life_time(mut self, selector: Selector, value: PacketLifeTime) -> Self {
                self.record.packet_life_time = Selected::new(selector, value);
                self.also($mask::LIFE_SELECTOR | $mask::LIFE)
            }
            /// Returns the requested MTU and its selector, if the MTU is in the component mask. Without a selector in
            /// the mask, the selector is [`Selector::Exactly`].
            #[must_use]
            pub fn requested_mtu(&self) -> Option<Selected<Mtu>> {
                requested(self.has($mask::MTU), self.has($mask::MTU_SELECTOR), self.record.mtu)
            }
            /// Returns the requested rate and its selector, if the rate is in the component mask. Without a selector in
            /// the mask, the selector is [`Selector::Exactly`].
            #[must_use]
            pub fn requested_rate(&self) -> Option<Selected<Rate>> {
                requested(self.has($mask::RATE), self.has($mask::RATE_SELECTOR), self.record.rate)
            }
            /// Returns the requested packet lifetime and its selector, if the lifetime is in the component mask.
            /// Without a selector in the mask, the selector is [`Selector::Exactly`].
            #[must_use]
            pub fn requested_packet_life_time(&self) -> Option<Selected<PacketLifeTime>> {
                requested(self.has($mask::LIFE), self.has($mask::LIFE_SELECTOR), self.record.packet_life_time)
            }
        }
    )*};
}
selected! {
    PathRecord PathMask;
    MultiPathRecord MultiPathMask;
    McMemberRecord McMemberMask;
}
