//! One dependency as it stands in the array: everything optional, nothing judged. The last of equal
//! keys counts, and unknown keys are passed over.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;

use crate::formats::bounds::MAX_ITEMS;
use crate::formats::scalar::Scalar;

/// An array of at most [`MAX_ITEMS`] objects.
#[derive(Debug)]
pub(super) struct Items<'a>(pub(super) Vec<Item<'a>>);

/// The keys of an item.
#[derive(Debug, Default)]
pub(super) struct Item<'a> {
    pub(super) name: Scalar<'a>,
    pub(super) healthy: Scalar<'a>,
    pub(super) health: Option<&'a RawValue>,
    pub(super) health_code: Scalar<'a>,
    pub(super) latency_ms: Scalar<'a>,
    pub(super) kind: Scalar<'a>,
    pub(super) description: Scalar<'a>,
    pub(super) impact: Scalar<'a>,
    pub(super) contact: Option<&'a RawValue>,
    pub(super) check_details: Option<&'a RawValue>,
    pub(super) error: Option<&'a RawValue>,
    pub(super) error_message: Scalar<'a>,
    pub(super) last_checked: Scalar<'a>,
}

/// The keys of an item's `health`.
#[derive(Debug, Default)]
pub(super) struct Health<'a> {
    pub(super) state: Scalar<'a>,
    pub(super) code: Scalar<'a>,
    pub(super) latency: Scalar<'a>,
    pub(super) skipped: Scalar<'a>,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum ItemKey {
    Name,
    Healthy,
    Health,
    HealthCode,
    LatencyMs,
    Type,
    Description,
    Impact,
    Contact,
    CheckDetails,
    Error,
    ErrorMessage,
    LastChecked,
    #[serde(other)]
    Unknown,
}

#[derive(Deserialize)]
#[serde(field_identifier, rename_all = "camelCase")]
enum HealthKey {
    State,
    Code,
    Latency,
    Skipped,
    #[serde(other)]
    Unknown,
}

impl<'de> Deserialize<'de> for Items<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_seq(ItemsVisitor)
    }
}

struct ItemsVisitor;

impl<'de> Visitor<'de> for ItemsVisitor {
    type Value = Items<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an array")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element()? {
            if list.len() == MAX_ITEMS {
                return Err(serde::de::Error::custom("too many items"));
            }
            list.push(item);
        }
        Ok(Items(list))
    }
}

impl<'de> Deserialize<'de> for Item<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(ItemVisitor)
    }
}

struct ItemVisitor;

impl<'de> Visitor<'de> for ItemVisitor {
    type Value = Item<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut item = Item::default();
        while let Some(key) = members.next_key()? {
            match key {
                ItemKey::Name => item.name = members.next_value()?,
                ItemKey::Healthy => item.healthy = members.next_value()?,
                ItemKey::Health => item.health = Some(members.next_value()?),
                ItemKey::HealthCode => item.health_code = members.next_value()?,
                ItemKey::LatencyMs => item.latency_ms = members.next_value()?,
                ItemKey::Type => item.kind = members.next_value()?,
                ItemKey::Description => item.description = members.next_value()?,
                ItemKey::Impact => item.impact = members.next_value()?,
                ItemKey::Contact => item.contact = Some(members.next_value()?),
                ItemKey::CheckDetails => item.check_details = Some(members.next_value()?),
                ItemKey::Error => item.error = Some(members.next_value()?),
                ItemKey::ErrorMessage => item.error_message = members.next_value()?,
                ItemKey::LastChecked => item.last_checked = members.next_value()?,
                ItemKey::Unknown => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(item)
    }
}

impl<'de> Deserialize<'de> for Health<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(HealthVisitor)
    }
}

struct HealthVisitor;

impl<'de> Visitor<'de> for HealthVisitor {
    type Value = Health<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut health = Health::default();
        while let Some(key) = members.next_key()? {
            match key {
                HealthKey::State => health.state = members.next_value()?,
                HealthKey::Code => health.code = members.next_value()?,
                HealthKey::Latency => health.latency = members.next_value()?,
                HealthKey::Skipped => health.skipped = members.next_value()?,
                HealthKey::Unknown => {
                    members.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(health)
    }
}
