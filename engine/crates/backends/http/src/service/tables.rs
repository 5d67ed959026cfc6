//! Tables of the service in memory: only the requests that the engine sends to DynamoDB services.

use crate::dynamodb::Item;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::hash::{DefaultHasher, Hash, Hasher};

/// Partition and sort key; the latter is empty in tables without one.
type Key = (String, String);

/// A table, and its items as JSON.
#[derive(Debug)]
struct Table {
    description: String,
    names: (String, Option<String>),
    items: BTreeMap<Key, String>,
}

/// All tables.
#[derive(Debug, Default)]
pub(super) struct Tables(HashMap<String, Table>);

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Create<'a> {
    table_name: String,
    #[serde(borrow)]
    attribute_definitions: &'a RawValue,
    #[serde(borrow)]
    key_schema: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct KeyPart {
    attribute_name: String,
    key_type: String,
}

/// The members of a request about a table that matter here.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct TableRequest<'a> {
    #[serde(default, borrow)]
    table_name: Cow<'a, str>,
    #[serde(default, borrow)]
    item: Option<&'a RawValue>,
    #[serde(default, borrow)]
    key: Option<&'a RawValue>,
    #[serde(default, borrow)]
    expression_attribute_names: HashMap<Cow<'a, str>, Cow<'a, str>>,
    #[serde(default, borrow)]
    expression_attribute_values: HashMap<Cow<'a, str>, &'a RawValue>,
    #[serde(default)]
    segment: u64,
    #[serde(default)]
    total_segments: Option<u64>,
    #[serde(default, borrow)]
    request_items: HashMap<Cow<'a, str>, &'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Change<'a> {
    #[serde(default, borrow)]
    put_request: Option<Put<'a>>,
    #[serde(default, borrow)]
    delete_request: Option<Delete<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Put<'a> {
    #[serde(borrow)]
    item: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Delete<'a> {
    #[serde(borrow)]
    key: &'a RawValue,
}

#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Keys<'a> {
    #[serde(borrow)]
    keys: Vec<&'a RawValue>,
}

impl Table {
    /// The key of an item, or of a key; none if it has none.
    fn key(&self, written: &RawValue) -> Option<Key> {
        let item: Item<'_> = serde_json::from_str(written.get()).ok()?;
        let sort = self.names.1.as_ref().map_or(Some(""), |name| item.text(name))?;
        Some((item.text(&self.names.0)?.to_owned(), sort.to_owned()))
    }
}

impl Tables {
    /// The answer to an action, named without its version, or the error code of a refusal.
    pub(super) fn answer(&mut self, action: &str, body: &[u8]) -> Result<String, &'static str> {
        const BAD: &str = "ValidationException";
        if action == "CreateTable" {
            return self.create(serde_json::from_slice(body).map_err(|_| BAD)?);
        }
        let request: TableRequest<'_> = serde_json::from_slice(body).map_err(|_| BAD)?;
        if matches!(action, "BatchWriteItem" | "BatchGetItem") {
            return self.batch(action, &request).ok_or(BAD);
        }
        let table = self.0.get_mut(request.table_name.as_ref()).ok_or("ResourceNotFoundException")?;
        match action {
            "DescribeTable" => Ok(format!(r#"{{"Table":{}}}"#, table.description)),
            "DeleteTable" => {
                let answer = format!(r#"{{"TableDescription":{}}}"#, table.description);
                self.0.remove(request.table_name.as_ref());
                Ok(answer)
            }
            "Scan" | "Query" => Ok(found(table, &request)),
            _ => of_item(table, action, &request).ok_or(BAD),
        }
    }

    fn create(&mut self, request: Create<'_>) -> Result<String, &'static str> {
        if self.0.contains_key(&request.table_name) {
            return Err("ResourceInUseException");
        }
        let parts: Vec<KeyPart> = serde_json::from_str(request.key_schema.get()).map_err(|_| "ValidationException")?;
        let name = |part: &str| parts.iter().find(|one| one.key_type == part).map(|one| one.attribute_name.clone());
        let names = (name("HASH").ok_or("ValidationException")?, name("RANGE"));
        let description = format!(
            r#"{{"TableName":"{}","TableStatus":"ACTIVE","KeySchema":{},"AttributeDefinitions":{}}}"#,
            request.table_name, request.key_schema, request.attribute_definitions
        );
        let answer = format!(r#"{{"TableDescription":{description}}}"#);
        self.0.insert(request.table_name, Table { description, names, items: BTreeMap::new() });
        Ok(answer)
    }

    /// The answer to a batch; none if the request is malformed.
    fn batch(&mut self, action: &str, request: &TableRequest<'_>) -> Option<String> {
        let mut answers = Vec::new();
        for (name, requests) in &request.request_items {
            let table = self.0.get_mut(name.as_ref())?;
            if action == "BatchGetItem" {
                let keys: Keys<'_> = serde_json::from_str(requests.get()).ok()?;
                let found = keys.keys.iter().filter_map(|key| table.items.get(&table.key(key)?).cloned());
                answers.push(format!(r#""{name}":[{}]"#, found.collect::<Vec<_>>().join(",")));
                continue;
            }
            for change in serde_json::from_str::<Vec<Change<'_>>>(requests.get()).ok()? {
                if let Some(put) = change.put_request {
                    table.items.insert(table.key(put.item)?, put.item.get().to_owned());
                }
                if let Some(delete) = change.delete_request {
                    table.items.remove(&table.key(delete.key)?);
                }
            }
        }
        Some(match action {
            "BatchGetItem" => format!(r#"{{"Responses":{{{}}},"UnprocessedKeys":{{}}}}"#, answers.join(",")),
            _ => r#"{"UnprocessedItems":{}}"#.to_owned(),
        })
    }
}

/// The answer to an action on one item; none if the request is malformed.
fn of_item(table: &mut Table, action: &str, request: &TableRequest<'_>) -> Option<String> {
    if action == "PutItem" {
        let item = request.item?;
        table.items.insert(table.key(item)?, item.get().to_owned());
        return Some("{}".to_owned());
    }
    let written = request.key?;
    let key = table.key(written)?;
    match action {
        "GetItem" => {
            Some(table.items.get(&key).map_or_else(|| "{}".to_owned(), |item| format!(r#"{{"Item":{item}}}"#)))
        }
        "DeleteItem" => {
            table.items.remove(&key);
            Some("{}".to_owned())
        }
        "UpdateItem" => {
            // The engine sets one attribute, and its items have no other.
            let mut item = written.get().trim_end().strip_suffix('}')?.to_owned();
            let name = request.expression_attribute_names.get("#d")?;
            let _ = write!(item, r#","{name}":{}}}"#, request.expression_attribute_values.get(":d")?);
            table.items.insert(key, item);
            Some("{}".to_owned())
        }
        _ => None,
    }
}

fn hashed(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// The items of a query or scan, in one page: all, those of a segment, those of a partition, or those whose partition
/// key has a prefix.
fn found(table: &Table, request: &TableRequest<'_>) -> String {
    let value = |name: &str| {
        let raw = request.expression_attribute_values.get(name)?;
        let mut text: HashMap<Cow<'_, str>, String> = serde_json::from_str(raw.get()).ok()?;
        text.remove("S")
    };
    let (partition, prefix) = (value(":p"), value(":f").unwrap_or_default());
    let wanted = |(key, _): &(&Key, &String)| {
        let own = request.total_segments.is_none_or(|total| hashed(&key.0) % total.max(1) == request.segment);
        partition.as_ref().is_none_or(|partition| *partition == key.0) && key.0.starts_with(&prefix) && own
    };
    let items: Vec<&str> = table.items.iter().filter(wanted).map(|(_, item)| item.as_str()).collect();
    format!(r#"{{"Items":[{}]}}"#, items.join(","))
}
