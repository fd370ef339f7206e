//! What releases before 0.33 have otherwise.

use mysql_common::binlog::{
    events::{EventData, OptionalMetadataField as Field, StatusVarVal, StatusVars},
    jsonb,
};
use serde_json::{Value as Json, json};

pub fn parsed(value: &jsonb::Value<'_>) -> Result<Json, String> {
    value.clone().parse().map(Json::from).map_err(|error| error.to_string())
}

/// What an event has inside its fields is read when its user asks for it.  An error or a panic there
/// is none of the rows.
pub fn ask(data: &EventData<'_>) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| match data {
        EventData::QueryEvent(query) => ask_variables(query.status_vars()),
        EventData::ExecuteLoadQueryEvent(query) => ask_variables(query.status_vars()),
        EventData::TableMapEvent(table) => table.iter_optional_meta().flatten().for_each(ask_field),
        _ => (),
    }));
}

fn ask_variables(variables: &StatusVars<'_>) {
    for variable in variables.iter() {
        let _ = variable.get_value();
    }
}

fn ask_field(field: Field<'_>) {
    match field {
        Field::SetStrValue(found) => found.iter_values().for_each(drop),
        Field::EnumStrValue(found) => found.iter_values().for_each(drop),
        Field::GeometryType(found) => found.iter_geometry_types().for_each(drop),
        Field::Dimensionality(found) => found.iter_dimensionalities().for_each(drop),
        _ => (),
    }
}

/// The status variables of a QUERY by the names of the canonical decode; one whose value cannot be read is null.
pub fn status_variables(data: &EventData<'_>) -> Option<Json> {
    let EventData::QueryEvent(query) = data else { return None };
    Some(query.status_vars().iter().map(|variable| variable.get_value().map_or(Json::Null, named)).collect())
}

fn named(value: StatusVarVal<'_>) -> Json {
    use StatusVarVal::*;
    let (name, value) = match value {
        Flags2(flags) => ("flags2", json!(flags.0)),
        SqlMode(mode) => ("sql_mode", json!(mode.0)),
        // All of its bytes: a length, the name and a NUL.
        Catalog(bytes) => ("catalog_terminated", json!(String::from_utf8_lossy(&bytes[1..bytes.len() - 1]))),
        CatalogNz(name) => ("catalog", json!(name.as_str())),
        AutoIncrement { increment, offset } => ("auto_increment", json!([increment, offset])),
        Charset { charset_client, collation_connection, collation_server } => {
            ("charset", json!([charset_client, collation_connection, collation_server]))
        }
        TimeZone(name) => ("time_zone", json!(name.as_str())),
        LcTimeNames(number) => ("lc_time_names", json!(number)),
        CharsetDatabase(number) => ("charset_database", json!(number)),
        TableMapForUpdate(tables) => ("table_map_for_update", json!(tables)),
        MasterDataWritten(bytes) => ("master_data_written", json!(u32::from_le_bytes(bytes))),
        Invoker { username, hostname } => ("invoker", json!([username.as_str(), hostname.as_str()])),
        UpdatedDbNames(names) => {
            ("updated_databases", names.iter().map(|name| name.as_str().into_owned()).collect())
        }
        Microseconds(number) => ("microseconds", json!(number)),
        CommitTs(_) => ("commit_timestamp", Json::Null),
        CommitTs2(_) => ("commit_timestamps", Json::Null),
        ExplicitDefaultsForTimestamp(on) => ("explicit_defaults_for_timestamp", json!(u8::from(on))),
        DdlLoggedWithXid(number) => ("ddl_xid", json!(number)),
        DefaultCollationForUtf8mb4(number) => ("default_collation_for_utf8mb4", json!(number)),
        SqlRequirePrimaryKey(on) => ("sql_require_primary_key", json!(on)),
        DefaultTableEncryption(on) => ("default_table_encryption", json!(on)),
    };
    json!({"name": name, "value": value})
}
