//! What releases before 0.33 have otherwise.

use mysql_common::binlog::jsonb;
use serde_json::Value as Json;

pub fn parsed(value: &jsonb::Value<'_>) -> Result<Json, String> {
    value.clone().parse().map(Json::from).map_err(|error| error.to_string())
}
