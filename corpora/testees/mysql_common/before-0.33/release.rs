//! For releases that give a document as JSON at once.

use mysql_common::binlog::{events::EventData, jsonb};
use serde_json::Value as Json;

pub fn parsed(value: &jsonb::Value<'_>) -> Result<Json, String> {
    Json::try_from(value.clone()).map_err(|error| error.to_string())
}

pub fn ask(_: &EventData<'_>) {}

pub fn status_variables(_: &EventData<'_>) -> Option<Json> {
    None
}
