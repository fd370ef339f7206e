"""Geographic spatial reference systems of MySQL, which reads their well-known binary with the axes in their own order.

Projected systems are read x before y, whatever their axes are (recorded on 9.7 for 2393, 3857 and 31467); MariaDB does
so with all.  The SRIDs are those of ``INFORMATION_SCHEMA.ST_SPATIAL_REFERENCE_SYSTEMS`` of MySQL 9.7.
"""

from __future__ import annotations

from functools import cache
from typing import Final, Literal

Axes = Literal["projected", "latitude first", "longitude first", "unmeasured"]

_LATITUDE_FIRST: Final = (
    "3819 3821 3824 3889 3906 4001-4008 4010-4016 4018-4025 4027-4034 4036 4041-4047 4052-4054 4075 4081 4120-4124 "
    "4127-4139 4141-4171 4173-4176 4178-4184 4188-4216 4218-4225 4227 4229-4232 4236-4259 4261-4263 4265-4267 "
    "4269-4286 4288-4289 4292-4293 4295 4297-4304 4306-4316 4318-4319 4322 4324 4326 4463 4470 4475 4483 4490 4555 "
    "4558 4600-4630 4632-4633 4636-4639 4641-4644 4646 4657-4680 4682-4684 4686-4730 4732-4765 4823-4824 5013 5132 "
    "5228 5233 5246 5252 5264 5324 5340 5354 5360 5365 5371 5373 5381 5393 5451 5464 5467 5489 5524 5527 5546 5561 "
    "5593 5681 5886 6135 6207 6311 6318 6322 6325 6365 6668 6706 6783 6881-6883 6892 6894 6983 6990 7073 7136 7139 "
    "7373 7683 7686 7798 7844 7881 7886 8086 8232 8237 8240 8246 8249 8252 8255 8351 8427-8428 8431 8449 8545 8685 "
    "8818 8860 8888 8900 8907 8972-9000 9003 9006 9009 9012 9014 9017 9019 9053-9057 9059-9069 9140 "
)
_LONGITUDE_FIRST: Final = "7035 7037 7039 7041 7084 7086 7133 8902"
#: Degrees from another meridian than Greenwich's, or grads: the server converts before it looks at the range.
_UNMEASURED: Final = "4801-4811 4813-4818 4820-4821 4901 4903-4904 5229 8042-8043"


def axes_of(srid: int) -> Axes:
    """The axes of a system on MySQL; an SRID that is not known counts as projected."""
    return _geographic().get(srid, "projected")


@cache
def _geographic() -> dict[int, Axes]:
    systems: dict[int, Axes] = dict.fromkeys(_numbers(_LATITUDE_FIRST), "latitude first")
    systems |= dict.fromkeys(_numbers(_LONGITUDE_FIRST), "longitude first")
    return systems | dict.fromkeys(_numbers(_UNMEASURED), "unmeasured")


def _numbers(text: str) -> list[int]:
    numbers: list[int] = []
    for item in text.split():
        first, _, last = item.partition("-")
        numbers += range(int(first), int(last or first) + 1)
    return numbers
