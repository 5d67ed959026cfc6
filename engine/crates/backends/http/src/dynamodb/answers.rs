//! Answers: faults, items, and consumed capacity.

use crate::net::Answer;
use assay_core::{named_fault, Fault, MALFORMED_TABLE_ANSWER};
use assay_spec::FaultDomain;
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::borrow::{Borrow, Cow};
use std::collections::HashMap;

#[derive(Deserialize)]
struct Refusal {
    #[serde(default, rename = "__type")]
    name: String,
}

/// The fault of a refused request.
pub(crate) fn refusal(answer: &Answer) -> Fault {
    let refusal: Option<Refusal> = serde_json::from_slice(&answer.body).ok();
    let name = refusal.map(|refusal| refusal.name).filter(|name| !name.is_empty());
    // `com.amazonaws.dynamodb.v20120810#ResourceNotFoundException`, or in the header with `:` and more after it.
    let name = name.or_else(|| answer.header("x-amzn-errortype").map(str::to_owned)).unwrap_or_default();
    let name = name.rsplit('#').next().unwrap_or_default();
    named_fault(FaultDomain::Dynamodb, answer.status, name.split(':').next().unwrap_or_default())
}

/// The message in a refusal.
pub(crate) fn refusal_message(answer: &Answer) -> Option<String> {
    #[derive(Deserialize)]
    struct RefusalMessage {
        #[serde(default)]
        message: Option<String>,
        #[serde(default, rename = "Message")]
        capital: Option<String>,
    }

    let text: RefusalMessage = serde_json::from_slice(&answer.body).ok()?;
    text.message.or(text.capital)
}

/// Returns the answer, if it is a success.
pub(crate) fn success(answer: Answer) -> Result<Answer, Fault> {
    answer.into_success(refusal)
}

/// Parses an answer.
///
/// # Errors
/// If it does not have this form.
pub(crate) fn parse<'a, T: Deserialize<'a>>(answer: &'a Answer) -> Result<T, Fault> {
    // Serde would take a list for the members of an object in order.
    let object = answer.body.trim_ascii_start().starts_with(b"{");
    let parsed = if object { serde_json::from_slice(&answer.body).ok() } else { None };
    parsed.ok_or(MALFORMED_TABLE_ANSWER)
}

/// Most capacity units of one request: 16 MB written, twice, with room.
const MAX_UNITS: f64 = 1e6;

/// Capacity units that a request has consumed; the answer to a batch lists them by table.
fn units<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    #[derive(Deserialize)]
    #[serde(rename_all = "PascalCase")]
    struct TableUnits {
        #[serde(default)]
        capacity_units: f64,
    }

    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Consumed {
        One(TableUnits),
        Several(Vec<TableUnits>),
    }

    let consumed = match Option::<Consumed>::deserialize(from)? {
        None => 0.0,
        Some(Consumed::One(table)) => table.capacity_units,
        Some(Consumed::Several(tables)) => tables.iter().map(|table| table.capacity_units).sum(),
    };
    // No request consumes more: impossible numbers are not counted.
    Ok(if (0.0..=MAX_UNITS).contains(&consumed) { consumed } else { 0.0 })
}

/// Text that is copied only if it has escapes.
#[derive(Debug, PartialEq, Eq, Hash, Deserialize)]
pub(crate) struct Text<'a>(#[serde(borrow)] Cow<'a, str>);

impl Borrow<str> for Text<'_> {
    fn borrow(&self) -> &str {
        &self.0
    }
}

/// An attribute's value; only the kinds used here are stored.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Attribute<'a> {
    #[serde(borrow, default, rename = "S")]
    text: Option<Text<'a>>,
    /// As base64.
    #[serde(borrow, default, rename = "B")]
    bytes: Option<Text<'a>>,
}

/// An item's attributes by name.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(crate) struct Item<'a>(#[serde(borrow)] HashMap<Text<'a>, Attribute<'a>>);

impl Item<'_> {
    /// The text of an attribute; none if it is missing or of another kind.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.text.as_ref().map(Borrow::borrow)
    }

    /// The bytes of an attribute as base64; none if it is missing or of another kind.
    pub(crate) fn bytes(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.bytes.as_ref().map(Borrow::borrow)
    }
}

/// The answer to PutItem, UpdateItem and DeleteItem.
#[derive(Debug, Deserialize)]
pub(crate) struct WriteAnswer {
    #[serde(default, rename = "ConsumedCapacity", deserialize_with = "units")]
    pub(crate) units: f64,
}

/// The answer to GetItem.
#[derive(Debug, Deserialize)]
pub(crate) struct GetAnswer<'a> {
    #[serde(default, rename = "ConsumedCapacity", deserialize_with = "units")]
    pub(crate) units: f64,
    #[serde(borrow, default, rename = "Item")]
    pub(crate) item: Option<Item<'a>>,
}

/// The answer to Query and Scan.
#[derive(Debug, Deserialize)]
pub(crate) struct PageAnswer<'a> {
    #[serde(default, rename = "ConsumedCapacity", deserialize_with = "units")]
    pub(crate) units: f64,
    #[serde(borrow, default, rename = "Items")]
    pub(crate) items: Vec<Item<'a>>,
    /// The key after which the next page begins.
    #[serde(borrow, default, rename = "LastEvaluatedKey")]
    pub(crate) last: Option<&'a RawValue>,
    /// Items that were read, including those that a filter has left out.
    #[serde(default, rename = "ScannedCount")]
    pub(crate) scanned: u64,
}

/// The answer to BatchGetItem.
#[derive(Debug, Deserialize)]
pub(crate) struct BatchGetAnswer<'a> {
    #[serde(default, rename = "ConsumedCapacity", deserialize_with = "units")]
    pub(crate) units: f64,
    #[serde(borrow, default, rename = "Responses")]
    pub(crate) tables: HashMap<Text<'a>, Vec<Item<'a>>>,
    #[serde(borrow, default, rename = "UnprocessedKeys")]
    unprocessed: HashMap<Text<'a>, Keys<'a>>,
}

#[derive(Debug, Deserialize)]
struct Keys<'a> {
    #[serde(borrow, default, rename = "Keys")]
    keys: Vec<&'a RawValue>,
}

impl BatchGetAnswer<'_> {
    /// How many keys the service has not looked up.
    pub(crate) fn unprocessed(&self) -> u64 {
        self.unprocessed.values().map(|keys| keys.keys.len() as u64).sum()
    }
}

/// The answer to BatchWriteItem.
#[derive(Debug, Deserialize)]
pub(crate) struct BatchWriteAnswer<'a> {
    #[serde(default, rename = "ConsumedCapacity", deserialize_with = "units")]
    pub(crate) units: f64,
    /// Requests that the service has not executed, by table.
    #[serde(borrow, default, rename = "UnprocessedItems")]
    pub(crate) unprocessed: HashMap<Text<'a>, Vec<&'a RawValue>>,
}

/// A removal in BatchWriteItem that the service has not executed.
#[derive(Debug, Deserialize)]
pub(crate) struct UnprocessedRequest<'a> {
    #[serde(borrow, rename = "DeleteRequest")]
    pub(crate) delete: UnprocessedKey<'a>,
}

/// The key of that removal.
#[derive(Debug, Deserialize)]
pub(crate) struct UnprocessedKey<'a> {
    #[serde(borrow, rename = "Key")]
    pub(crate) key: Item<'a>,
}

/// The answer to DescribeTable and DeleteTable.
#[derive(Debug, Deserialize)]
pub(crate) struct DescribeAnswer {
    #[serde(alias = "TableDescription", rename = "Table")]
    pub(crate) table: Table,
}

/// A table.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
pub(crate) struct Table {
    #[serde(default, rename = "TableStatus")]
    pub(crate) status: String,
    /// From the service's last count, which may be hours old.
    #[serde(default, rename = "TableSizeBytes")]
    pub(crate) size_bytes: u64,
    #[serde(default)]
    key_schema: Vec<KeyElement>,
    #[serde(default)]
    attribute_definitions: Vec<AttributeDefinition>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KeyElement {
    attribute_name: String,
    key_type: String,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "PascalCase")]
struct AttributeDefinition {
    attribute_name: String,
    attribute_type: String,
}

impl Table {
    /// Name and type of a part of its key: `HASH` or `RANGE`.
    pub(crate) fn key(&self, part: &str) -> Option<(&str, &str)> {
        let name = &self.key_schema.iter().find(|element| element.key_type == part)?.attribute_name;
        let known = self.attribute_definitions.iter().find(|one| one.attribute_name == *name);
        Some((name, known.map_or("S", |one| one.attribute_type.as_str())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_with_and_without_what_may_be_missing() {
        let text = r#"{"Item":{"pk":{"S":"a\/b"},"d":{"B":"AQI="},"n":{"N":"5"}},"ConsumedCapacity":{"TableName":"t",
                       "CapacityUnits":0.5}}"#;
        let got: GetAnswer<'_> = serde_json::from_str(text).unwrap();
        let item = got.item.unwrap();
        assert_eq!(
            (item.text("pk"), item.bytes("d"), item.text("n"), got.units),
            (Some("a/b"), Some("AQI="), None, 0.5)
        );
        let nothing: GetAnswer<'_> = serde_json::from_str("{}").unwrap();
        assert!(nothing.item.is_none() && nothing.units.abs() < 1e-9);
        let text = r#"{"UnprocessedItems":{"t":[{"PutRequest":{}},{"PutRequest":{}}]},"ConsumedCapacity":[
                       {"CapacityUnits":3.0},{"CapacityUnits":2.5}]}"#;
        let stored: BatchWriteAnswer<'_> = serde_json::from_str(text).unwrap();
        assert_eq!((stored.unprocessed.values().map(Vec::len).sum::<usize>(), stored.units), (2, 5.5));
        let text = r#"{"Responses":{"t":[{"pk":{"S":"a"}}]},"UnprocessedKeys":{"t":{"Keys":[{"pk":{"S":"b"}}]}}}"#;
        let fetched: BatchGetAnswer<'_> = serde_json::from_str(text).unwrap();
        assert_eq!((fetched.tables["t"].len(), fetched.unprocessed()), (1, 1));
        let found: PageAnswer<'_> =
            serde_json::from_str(r#"{"Items":[],"LastEvaluatedKey":{"pk":{"S":"a"}}}"#).unwrap();
        assert_eq!(found.last.unwrap().get(), r#"{"pk":{"S":"a"}}"#);
    }

    #[test]
    fn units_that_cannot_be_are_not_counted() {
        let of = |units: &str| {
            let text = format!(r#"{{"ConsumedCapacity":{units}}}"#);
            serde_json::from_str::<WriteAnswer>(&text).ok().map(|done| done.units)
        };
        for (text, counted) in [("null", 0.0), ("{}", 0.0), ("[]", 0.0)] {
            assert_eq!(of(text), Some(counted), "{text}");
        }
        for (units, counted) in [("-1.0", 0.0), ("1e6", 1e6), ("1000001", 0.0), ("1e300", 0.0), ("2.5", 2.5)] {
            assert_eq!(of(&format!(r#"{{"CapacityUnits":{units}}}"#)), Some(counted), "{units}");
        }
        assert_eq!(of(r#"[{"CapacityUnits":6e5},{"CapacityUnits":6e5}]"#), Some(0.0), "together too many");
        assert_eq!(of("7"), None);
        assert_eq!(of(r#"{"CapacityUnits":"2"}"#), None);
    }

    #[test]
    fn no_beginning_of_an_answer_is_an_answer() {
        let text = r#"{"Items":[{"pk":{"S":"a"},"d":{"B":"AQ=="}}],"LastEvaluatedKey":{"pk":{"S":"a"}},"Count":1}"#;
        for length in 0..text.len() {
            assert!(serde_json::from_str::<PageAnswer<'_>>(&text[..length]).is_err(), "{length} bytes");
        }
        assert_eq!(serde_json::from_str::<PageAnswer<'_>>(text).unwrap().items.len(), 1);
    }

    #[test]
    fn a_table_is_known_by_its_key_and_the_types_of_its_parts() {
        let text = r#"{"TableDescription":{"TableStatus":"ACTIVE","KeySchema":[
            {"AttributeName":"sk","KeyType":"RANGE"},{"AttributeName":"pk","KeyType":"HASH"}],
            "AttributeDefinitions":[{"AttributeName":"other","AttributeType":"B"},{"AttributeName":"sk","AttributeType":"N"}]}}"#;
        let DescribeAnswer { table } = serde_json::from_str(text).unwrap();
        assert_eq!(
            (table.status.as_str(), table.key("RANGE"), table.key("OTHER")),
            ("ACTIVE", Some(("sk", "N")), None)
        );
        assert_eq!(table.key("HASH"), Some(("pk", "S")), "a key is text where its type is not defined");
        assert!(serde_json::from_str::<DescribeAnswer>(r#"{"Tables":{}}"#).is_err());
    }
}
