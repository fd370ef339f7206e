//! What releases before 0.33 have otherwise.

use mysql_common::binlog::{
    events::{EventData, OptionalMetadataField as Field, StatusVars},
    jsonb,
};
use serde_json::Value as Json;

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
