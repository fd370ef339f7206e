"""Arrow types of rows as Spark has them: without loss, in the next larger type where Spark lacks one."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import pyarrow as pa
from pyspark.sql import types as spark

_WIDER = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),
}
_PLAIN: dict[type[spark.DataType], pa.DataType] = {
    spark.ByteType: pa.int8(),
    spark.ShortType: pa.int16(),
    spark.IntegerType: pa.int32(),
    spark.LongType: pa.int64(),
    spark.FloatType: pa.float32(),
    spark.DoubleType: pa.float64(),
    spark.BooleanType: pa.bool_(),
    spark.StringType: pa.string(),
    spark.BinaryType: pa.binary(),
    spark.DateType: pa.date32(),
    spark.TimestampType: pa.timestamp("us", tz="UTC"),
    spark.TimestampNTZType: pa.timestamp("us"),
    spark.DayTimeIntervalType: pa.duration("us"),
}
#: Types that hold all values of those before them.
_LADDERS = ((pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.decimal128(20, 0)), (pa.float32(), pa.float64()))


def spark_form(kind: pa.DataType) -> pa.DataType:
    """The Arrow type in which Spark takes values of that type from us."""
    if pa.types.is_dictionary(kind):
        return spark_form(kind.value_type)
    if pa.types.is_fixed_size_binary(kind):
        return pa.binary()
    if pa.types.is_decimal256(kind):
        return pa.string()
    if pa.types.is_timestamp(kind):
        return pa.timestamp("us", tz=kind.tz)
    if pa.types.is_list(kind):
        return pa.list_(pa.field("element", spark_form(kind.value_type)))
    if pa.types.is_struct(kind):
        return pa.struct([pa.field(field.name, spark_form(field.type)) for field in kind])
    return _WIDER.get(kind, kind)


def spark_schema(schema: pa.Schema, never_null: Collection[str] = ()) -> spark.StructType:
    """The Spark schema of rows whose Arrow schema is in Spark's form; some columns are never null."""
    return spark.StructType(
        [spark.StructField(field.name, _of_arrow(field.type), field.name not in never_null) for field in schema]
    )


def _of_arrow(kind: pa.DataType) -> spark.DataType:
    for plain, arrow in _PLAIN.items():
        if arrow == kind:
            return plain()
    if pa.types.is_struct(kind):
        return spark_schema(pa.schema(list(kind)))
    if pa.types.is_list(kind):
        return spark.ArrayType(_of_arrow(kind.value_type))
    assert pa.types.is_decimal128(kind), kind
    return spark.DecimalType(kind.precision, kind.scale)


def arrow_schema(schema: spark.StructType) -> pa.Schema:
    """The Arrow schema in Spark's form of a Spark schema; types that no row has are null."""
    return pa.schema([pa.field(field.name, _of_spark(field.dataType), field.nullable) for field in schema.fields])


def _of_spark(kind: spark.DataType) -> pa.DataType:
    if isinstance(kind, spark.DecimalType):
        return pa.decimal128(kind.precision, kind.scale)
    if isinstance(kind, spark.StructType):
        return pa.struct(list(arrow_schema(kind)))
    if isinstance(kind, spark.ArrayType):
        return pa.list_(pa.field("element", _of_spark(kind.elementType), kind.containsNull))
    return _PLAIN.get(type(kind), pa.null())


def wider(one: pa.DataType, other: pa.DataType) -> pa.DataType | None:
    """The type, in Spark's form, that holds all values of both; None if none does."""
    if one == other:
        return one
    for ladder in _LADDERS:
        if one in ladder and other in ladder:
            return max(one, other, key=ladder.index)
    if pa.types.is_decimal128(one) and pa.types.is_decimal128(other):
        scale = max(one.scale, other.scale)
        precision = scale + max(one.precision - one.scale, other.precision - other.scale)
        return pa.decimal128(precision, scale) if precision <= 38 else None
    if pa.types.is_struct(one) and pa.types.is_struct(other):
        fields = {field.name: field for field in one}
        for field in other:
            kind = wider(fields[field.name].type, field.type) if field.name in fields else field.type
            if kind is None:
                return None
            fields[field.name] = pa.field(field.name, kind)
        return pa.struct(list(fields.values()))
    return None


def converted(array: pa.Array, kind: pa.DataType) -> pa.Array:
    """The values of an array as ``kind``, which is its type in Spark's form or a wider one."""
    if array.type == kind:
        return array
    if pa.types.is_dictionary(array.type):
        return converted(array.dictionary_decode(), kind)
    if pa.types.is_decimal256(array.type):
        return pa.array([None if value is None else format(value, "f") for value in array.to_pylist()], kind)
    if pa.types.is_struct(array.type):
        return _struct(array, kind)
    return array.cast(kind)


def _struct(array: pa.StructArray, kind: pa.StructType) -> pa.Array:
    there: dict[str, Any] = {field.name: array.field(place) for place, field in enumerate(array.type)}
    children = [
        converted(there[field.name], field.type) if field.name in there else pa.nulls(len(array), field.type)
        for field in kind
    ]
    mask = array.is_null() if array.null_count else None
    return pa.StructArray.from_arrays(children, fields=list(kind), mask=mask)
