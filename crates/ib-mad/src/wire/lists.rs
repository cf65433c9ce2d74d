//! Serde of [`InBytes`] as its value and of [`Packed`] as a list of values.
use super::{Bits, InBytes, Packed};
use core::{fmt, marker::PhantomData};
use serde::{
    de::{Deserialize, Deserializer, Error, SeqAccess, Visitor},
    ser::{Serialize, SerializeSeq as _, Serializer},
};

impl<T: Bits + Serialize, const N: usize> Serialize for InBytes<T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.get().serialize(serializer)
    }
}
impl<'de, T: Bits + Deserialize<'de>, const N: usize> Deserialize<'de> for InBytes<T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let value = T::deserialize(deserializer)?;
        let raw = value.into_raw();
        let own = Self::new(T::from_raw(raw));
        if own.get().into_raw() == raw { Ok(own) } else { Err(D::Error::custom("a value that its bytes do not hold")) }
    }
}

impl<T: Bits + Serialize, const WIDTH: usize, const N: usize> Serialize for Packed<T, WIDTH, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_seq(Some(self.len()))?;
        self.iter().try_for_each(|value| values.serialize_element(&value))?;
        values.end()
    }
}
impl<'de, T: Bits + Deserialize<'de>, const WIDTH: usize, const N: usize> Deserialize<'de> for Packed<T, WIDTH, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(Table(PhantomData))
    }
}

struct Table<T, const WIDTH: usize, const N: usize>(PhantomData<T>);
impl<'de, T: Bits + Deserialize<'de>, const WIDTH: usize, const N: usize> Visitor<'de> for Table<T, WIDTH, N> {
    type Value = Packed<T, WIDTH, N>;
    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} values of {WIDTH} bits", Self::Value::ZERO.len())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, mut values: A) -> Result<Self::Value, A::Error> {
        let mut own = Self::Value::ZERO;
        for index in 0..own.len() {
            let raw = values.next_element::<T>()?.ok_or_else(|| A::Error::invalid_length(index, &self))?.into_raw();
            own = own.with(index, T::from_raw(raw));
            if own.get(index).map(T::into_raw) != Some(raw) {
                return Err(A::Error::custom("a value that the table's bits do not hold"));
            }
        }
        match values.next_element::<T>()? {
            None => Ok(own),
            Some(_) => Err(A::Error::invalid_length(own.len() + 1, &self)),
        }
    }
}
