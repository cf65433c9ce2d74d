//! Settings by name, for command lines and scenario files.
use super::{Probability, Settings};
use alloc::{
    format,
    string::{String, ToString},
};
use core::time::Duration;
use ib_mad::{FlowLabel, Mtu, PacketLifeTime, Rate, ServiceLevel, Status};

/// The error of a setting that cannot be set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingError {
    /// No setting has this name.
    #[error("no such setting")]
    UnknownName,
    /// The text is not a value of the setting.
    #[error("not a {0}")]
    BadValue(&'static str),
}

/// A value that a setting can have.
trait Value: Sized {
    const WHAT: &'static str;
    fn read(text: &str) -> Option<Self>;
    fn write(&self) -> String;
}

impl Value for bool {
    const WHAT: &'static str = "switch (on, off)";
    fn read(text: &str) -> Option<Self> {
        match text {
            "on" | "1" => Some(true),
            "off" | "0" => Some(false),
            _ => None,
        }
    }
    fn write(&self) -> String {
        if *self { "on" } else { "off" }.to_string()
    }
}
impl Value for Probability {
    const WHAT: &'static str = "probability (0 to 1, or 0% to 100%)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn write(&self) -> String {
        self.to_string()
    }
}
impl Value for Duration {
    const WHAT: &'static str = "time (0, or a whole number of ns, us, ms, s)";
    fn read(text: &str) -> Option<Self> {
        let unit = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (number, unit) = text.split_at_checked(unit)?;
        let number = number.parse().ok()?;
        Some(match unit {
            "ns" => Self::from_nanos(number),
            "us" => Self::from_micros(number),
            "ms" => Self::from_millis(number),
            "s" => Self::from_secs(number),
            "" if number == 0 => Self::ZERO,
            _ => return None,
        })
    }
    fn write(&self) -> String {
        let nanos = self.as_nanos();
        match nanos {
            0 => "0".to_string(),
            _ if nanos.is_multiple_of(1_000_000_000) => format!("{}s", nanos / 1_000_000_000),
            _ if nanos.is_multiple_of(1_000_000) => format!("{}ms", nanos / 1_000_000),
            _ if nanos.is_multiple_of(1_000) => format!("{}us", nanos / 1_000),
            _ => format!("{nanos}ns"),
        }
    }
}
impl Value for u8 {
    const WHAT: &'static str = "number (0 to 255)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn write(&self) -> String {
        self.to_string()
    }
}
impl Value for u32 {
    const WHAT: &'static str = "number (0 to 4294967295)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok()
    }
    fn write(&self) -> String {
        self.to_string()
    }
}
impl Value for Status {
    const WHAT: &'static str = "status (0x and up to 4 hex digits)";
    fn read(text: &str) -> Option<Self> {
        u16::from_str_radix(text.strip_prefix("0x")?, 16).ok().map(Self::new)
    }
    fn write(&self) -> String {
        format!("{:#06x}", self.get())
    }
}
impl Value for Mtu {
    const WHAT: &'static str = "MTU (256, 512, 1024, 2048, 4096)";
    fn read(text: &str) -> Option<Self> {
        Self::from_bytes(text.parse().ok()?)
    }
    fn write(&self) -> String {
        self.to_string()
    }
}
impl Value for Rate {
    const WHAT: &'static str = "rate (whole Gb/s; 2 for 2.5)";
    fn read(text: &str) -> Option<Self> {
        Self::from_gbps(text.parse().ok()?)
    }
    fn write(&self) -> String {
        let name = self.name().unwrap_or("?");
        name.split([' ', '.']).next().unwrap_or(name).to_string()
    }
}
impl Value for PacketLifeTime {
    const WHAT: &'static str = "lifetime code (0 to 63)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::checked)
    }
    fn write(&self) -> String {
        self.get().to_string()
    }
}
impl Value for ServiceLevel {
    const WHAT: &'static str = "service level (0 to 15)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::checked)
    }
    fn write(&self) -> String {
        self.get().to_string()
    }
}
impl Value for FlowLabel {
    const WHAT: &'static str = "flow label (0 to 1048575)";
    fn read(text: &str) -> Option<Self> {
        text.parse().ok().and_then(Self::checked)
    }
    fn write(&self) -> String {
        self.get().to_string()
    }
}
impl<T: Value> Value for Option<T> {
    const WHAT: &'static str = T::WHAT;
    fn read(text: &str) -> Option<Self> {
        if text == "none" { Some(None) } else { T::read(text).map(Some) }
    }
    fn write(&self) -> String {
        self.as_ref().map_or_else(|| "none".to_string(), Value::write)
    }
}

macro_rules! named {
    ($($name:literal $($field:ident).+,)*) => {
        impl Settings {
            /// Sets the setting with this name.
            ///
            /// # Errors
            /// [`SettingError`]; the settings are then unchanged.
            pub fn set(&mut self, name: &str, value: &str) -> Result<(), SettingError> {
                fn read<T: Value>(_like: &T, text: &str) -> Result<T, SettingError> {
                    T::read(text).ok_or(SettingError::BadValue(T::WHAT))
                }
                match name {
                    $($name => self.$($field).+ = read(&self.$($field).+, value)?,)*
                    _ => return Err(SettingError::UnknownName),
                }
                Ok(())
            }

            /// Returns the name and the value of each setting, in the form that [`Settings::set`] accepts.
            pub fn iter(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
                [$(($name, self.$($field).+.write()),)*].into_iter()
            }
        }
    };
}

named! {
    "ud_loss" faults.loss,
    "ud_duplicate" faults.duplicate,
    "ud_reorder" faults.reorder,
    "ud_reorder_hold" faults.reorder_hold,
    "ud_delay" faults.delay,
    "ud_jitter" faults.jitter,
    "ud_down" faults.down,
    "tree_leaf" tree.leaf,
    "tree_pod" tree.pod,
    "tree_hop_delay" tree.hop_delay,
    "link_rates" link_rates,
    "mc_to_sender" multicast_to_sender,
    "mc_strict" strict_multicast,
    "sa_loss" sa.loss,
    "sa_delay" sa.delay,
    "sa_response_delay" sa.response_delay,
    "sa_service_time" sa.service_time,
    "sa_record_time" sa.record_time,
    "sa_queue" sa.queue,
    "sa_busy_when_full" sa.busy_when_full,
    "sa_mute" sa.mute,
    "sa_notices" sa.notices,
    "sa_qos" sa.qos,
    "sa_status" sa.status,
    "sa_unknown_gid_status" sa.unknown_gid_status,
    "pr_mtu" path.mtu,
    "pr_rate" path.rate,
    "pr_life" path.packet_life_time,
    "pr_sl" path.sl,
    "pr_tclass" path.traffic_class,
    "pr_flow" path.flow_label,
    "pr_hop" path.hop_limit,
    "pr_numpath" path.num_path,
    "pr_reversible" path.reversible,
    "pr_path_bits" path.path_bits,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_accepts_its_own_output() {
        let mut settings = Settings::default();
        for (name, value) in [
            ("ud_loss", "30%"),
            ("ud_jitter", "1500us"),
            ("ud_down", "on"),
            ("tree_leaf", "18"),
            ("tree_hop_delay", "200ns"),
            ("link_rates", "on"),
            ("sa_queue", "1000"),
            ("sa_status", "0x0300"),
            ("pr_mtu", "2048"),
            ("pr_rate", "40"),
            ("pr_life", "20"),
            ("pr_sl", "3"),
            ("pr_flow", "77"),
            ("pr_hop", "1"),
        ] {
            settings.set(name, value).unwrap();
        }
        assert_eq!((settings.faults.jitter, settings.path.rate), (Duration::from_micros(1500), Some(Rate::GBPS_40)));
        let mut copy = Settings::default();
        for (name, value) in settings.iter() {
            copy.set(name, &value).unwrap();
        }
        assert_eq!(copy, settings);
    }

    #[test]
    fn invalid_value_changes_nothing() {
        let mut settings = Settings::default();
        assert_eq!(settings.set("nope", "1"), Err(SettingError::UnknownName));
        for (name, value) in [("ud_delay", "5"), ("ud_delay", "ms"), ("ud_loss", "2"), ("pr_sl", "16"), ("pr_mtu", "9")]
        {
            assert!(matches!(settings.set(name, value), Err(SettingError::BadValue(_))), "{name} {value}");
        }
        assert_eq!(settings, Settings::default());
    }
}
