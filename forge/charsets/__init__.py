"""Character sets and collations: ids, names, defaults, and codecs that agree with the server byte for byte."""

from forge.charsets.codecs import Charset, charset
from forge.charsets.collations import Collation, collation, default_collation, find_collation
from forge.charsets.comparison import compare_key, is_exact

__all__ = [
    "Charset",
    "Collation",
    "charset",
    "collation",
    "compare_key",
    "default_collation",
    "find_collation",
    "is_exact",
]
