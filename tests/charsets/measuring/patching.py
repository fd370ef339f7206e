"""Making the data files: what a measured server does differently from a Python codec, in runs."""

from __future__ import annotations

from pathlib import Path

from forge.charsets import tables
from forge.charsets.registry import forget
from tests.charsets.measuring.live import LiveServer
from tests.charsets.measuring.observe import observe_decoding, observe_encoding

#: (bytes, character), either of them None for "nothing".
_Pair = tuple[bytes | None, str | None]


def write_patch(server: LiveServer, name: str) -> None:
    """Write ``data/NAME.map`` from a running server (no file if there is no difference); forget what was loaded."""
    codec = tables.SINGLE_BYTE.get(name) or tables.MULTI_BYTE[name].codec
    encoded = list(observe_encoding(server, name))
    decoding: set[_Pair] = set()
    for seen in observe_decoding(server, name, encoded):
        python = tables.python_decode(codec, seen.data)
        is_one_character = all(text is None or len(text) == 1 for text in (python, seen.text))
        if is_one_character and seen.text != python:
            decoding.add((seen.data, seen.text))
    encoding: set[_Pair] = {
        (seen.data, seen.character) for seen in encoded if seen.data != tables.python_encode(codec, seen.character)
    }
    lines = []
    for direction, pairs in (("=", decoding & encoding), (">", decoding - encoding), ("<", encoding - decoding)):
        lines += [" ".join((direction, *run)) for run in runs(pairs, by_character=direction == "<")]
    path = Path(__file__).parent / "data" / f"{name}.map"
    path.unlink(missing_ok=True)
    if lines:
        header = f"# {name}: what the servers do differently from the Python codec {codec}\n"
        path.write_text(header + "\n".join(lines) + "\n", encoding="ascii")
    forget()


def runs(pairs: set[_Pair], *, by_character: bool) -> list[tuple[str, str, str]]:
    """(bytes, code point, count) in hexadecimal, hexadecimal and decimal; see forge.charsets.tables."""
    runs: list[list[_Pair]] = []
    by_bytes = sorted(pairs, key=lambda pair: (pair[0] or b"", pair[1] or ""))
    for pair in sorted(by_bytes, key=lambda pair: pair[1] or "") if by_character else by_bytes:
        if runs and _follows(runs[-1][-1], pair):
            runs[-1].append(pair)
        else:
            runs.append([pair])
    return [_shown(run[0], len(run)) for run in runs]


def _follows(before: _Pair, after: _Pair) -> bool:
    (old_data, old_character), (data, character) = before, after
    if (old_data is None) != (data is None) or (old_character is None) != (character is None):
        return False
    if old_data and data and (data[:-1] != old_data[:-1] or data[-1] != old_data[-1] + 1):
        return False
    return not (old_character and character) or ord(character) == ord(old_character) + 1


def _shown(first: _Pair, count: int) -> tuple[str, str, str]:
    data, character = first
    return data.hex() if data else "-", f"{ord(character):04x}" if character else "-", str(count)
