"""A scenario of generated rows, for the time and the memory that ``forge build`` takes."""

from __future__ import annotations

_TEXT = """\
scenario: volume
seed: 7
tables:
  - CREATE TABLE shop.orders (
      id INT PRIMARY KEY, kind CHAR(1), dice INT, note VARCHAR(20), token BINARY(8), seen DATETIME(6),
      total DECIMAL(10,2))
transactions:
  - - insert:
        into: shop.orders
        count: {rows}
        row:
          id: {{sequence: 10}}
          kind: {{choice: [a, b, null]}}
          dice: {{random_int: {{min: 1, max: 6}}}}
          note: {{text: {{min: 5, length: 20}}}}
          token: {{bytes: 8}}
          seen: {{datetime: {{from: 2020-01-01, to: 2030-01-01}}}}
          total: {{choice: ['1.50', '20.00', '-3.25']}}
"""


def generated_rows(rows: int) -> str:
    """The scenario's YAML: one transaction that inserts ``rows`` generated rows of seven columns."""
    return _TEXT.format(rows=rows)
