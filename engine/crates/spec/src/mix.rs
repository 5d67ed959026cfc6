//! Deserialisation of the shares of a mix.

use crate::OpKind;
use serde::de::{Error, MapAccess, Visitor};
use serde::Deserializer;
use std::collections::BTreeMap;
use std::fmt;

/// Read a mix in which no kind occurs twice: JSON allows that, and the last share would silently win.
pub(crate) fn each_once<'de, D: Deserializer<'de>>(from: D) -> Result<Option<BTreeMap<OpKind, u8>>, D::Error> {
    struct Shares;

    impl<'de> Visitor<'de> for Shares {
        type Value = Option<BTreeMap<OpKind, u8>>;

        fn expecting(&self, into: &mut fmt::Formatter) -> fmt::Result {
            into.write_str("kinds of operations and their shares in percent")
        }

        fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
            Ok(None)
        }

        fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
            let mut shares = BTreeMap::new();
            while let Some((kind, percent)) = map.next_entry::<OpKind, u8>()? {
                if shares.insert(kind, percent).is_some() {
                    return Err(Error::custom(format_args!("`{}` stands twice in the mix", kind.name())));
                }
            }
            Ok(Some(shares))
        }
    }

    from.deserialize_any(Shares)
}

#[cfg(test)]
mod tests {
    use crate::Phase;

    fn phase(mix: &str) -> Result<Phase, serde_json::Error> {
        serde_json::from_str(&format!(r#"{{"operation": "random_mix", "measured": true, "mix": {mix}}}"#))
    }

    #[test]
    fn a_share_stands_once() {
        let shares = phase(r#"{"read": 70, "write": 30}"#).unwrap().mix.unwrap();
        assert_eq!(shares.values().copied().collect::<Vec<_>>(), [70, 30]);
        assert_eq!(phase("null").unwrap().mix, None);
        let error = phase(r#"{"read": 70, "write": 30, "read": 70}"#).unwrap_err().to_string();
        assert!(error.starts_with("`read` stands twice in the mix"), "{error}");
        let error = phase("[70, 30]").unwrap_err().to_string();
        assert!(error.contains("expected kinds of operations and their shares in percent"), "{error}");
    }
}
