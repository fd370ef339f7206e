"""Character sets and collations: ids, names, defaults, and codecs that agree with the server byte for byte."""

from forge.charsets.base import Charset
from forge.charsets.collations import Collation, collation, default_collation, find_collation
from forge.charsets.comparison import compare_key, is_exact
from forge.charsets.ordering import order_key
from forge.charsets.registry import charset, charset_names

__all__ = [
    "Charset",
    "Collation",
    "charset",
    "charset_names",
    "collation",
    "compare_key",
    "default_collation",
    "find_collation",
    "is_exact",
    "order_key",
]
