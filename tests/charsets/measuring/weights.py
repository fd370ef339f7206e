"""Making the folding data from the servers' WEIGHT_STRING, and comparing our keys with it.

``python -m tests.charsets.measuring.weights --server DIR [--server DIR] --write`` writes ``data/*.fold`` from the
first server that has each collation; without ``--write`` it lists, for every collation of the servers, the characters
which our keys tell apart and the server does not, or the other way.  Tried are all characters below U+20000 (planes
0 and 1).
"""

from __future__ import annotations

import argparse
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from forge.charsets import folding
from forge.charsets.collations import Collation, collation
from forge.charsets.comparison import as_stored, compare_key, is_exact
from forge.charsets.registry import charset
from tests.charsets.measuring.live import LiveServer
from tests.charsets.measuring.observe import prepare

#: Weights of the characters that a set can hold.
Weights = dict[str, bytes]
Fold = dict[str, str]

_ROOTS = {
    "general_ci": "same", "tolower_ci": "same", "general1400_as_ci": "same",
    "unicode_ci": "ai_ci", "unicode_520_ci": "ai_ci",
    "0900_ai_ci": "ai_ci", "0900_as_ci": "as_ci", "0900_as_cs": "cs",
    "uca1400_ai_ci": "ai_ci", "uca1400_as_ci": "as_ci", "uca1400_ai_cs": "cs", "uca1400_as_cs": "cs",
}  # fmt: skip


def weights(server: LiveServer, entry: Collation) -> Weights:
    """WEIGHT_STRING under a collation of every character below U+20000 that its set holds and gives back."""
    question = charset(entry.charset).encode("?").hex().upper()
    sql = f"""{prepare()}
        CREATE TABLE point (u VARCHAR(1) CHARACTER SET utf8mb4);
        INSERT INTO point SELECT CONVERT(CONCAT(x'00', p.b, a.b, c.b) USING utf32) FROM bytes p, bytes a, bytes c
            WHERE ORD(p.b) = 1 OR ORD(p.b) = 0 AND ORD(a.b) NOT BETWEEN 0xd8 AND 0xdf;
        SELECT HEX(CONVERT(u USING utf32)), HEX(CONVERT(u USING {entry.charset})),
            HEX(WEIGHT_STRING(CONVERT(u USING {entry.charset}) COLLATE {entry.name})) FROM point;"""
    answer = {}
    for point, stored, weight in server.rows(sql):
        character = chr(int(point, 16))
        if (stored not in (question, "", "NULL") or character == "?") and as_stored(
            entry.charset, character
        ) == character:
            answer[character] = bytes.fromhex(weight)
    return answer


def fold_by_weights(seen: Weights, base: Callable[[str], str], *, levels: bool, unit: int) -> Fold:
    """What each character becomes so that equal weights give equal keys.

    ``unit`` is the bytes of a weight (0: a character's weight is not divided); with ``levels`` the weights have
    several levels and a character is only divided where its base operation divides it into the same weights.
    """
    by_weight = defaultdict(list)
    for character, weight in seen.items():
        by_weight[weight].append(character)
    chosen = {w: min([c for c in same if base(c) == c] or same) for w, same in by_weight.items()}
    if " " in seen:
        chosen[seen[" "]] = " "
    if levels:
        chosen |= {weight: "" for weight in by_weight if not weight.strip(b"\0")}
        keys = {weight: _divided_by_base(weight, same, seen, chosen, base) for weight, same in by_weight.items()}
        return {character: keys[weight] for character, weight in seen.items()}
    parts = {weight: _parts(weight, unit) for weight in by_weight}
    return {
        character: "".join(chosen[part] for part in parts[weight])
        if all(part in chosen for part in parts[weight])
        else chosen[weight]
        for character, weight in seen.items()
    }


def _parts(weight: bytes, unit: int) -> list[bytes]:
    """The weights of the characters that an expansion stands for; an implicit weight (FBxx xxxx) is one."""
    if not unit:
        return [weight]
    parts = [weight[start : start + unit] for start in range(0, len(weight), unit)]
    joined: list[bytes] = []
    for part in parts:
        if joined and len(joined[-1]) == unit == 2 and joined[-1][0] == 0xFB:
            joined[-1] += part
        else:
            joined.append(part)
    return joined


def _divided_by_base(
    weight: bytes, same: list[str], seen: Weights, chosen: dict[bytes, str], base: Callable[[str], str]
) -> str:
    """The key of all characters of a weight: the parts of one of them if they weigh the same, else the chosen one."""
    for parts in (base(character) for character in same):
        divides = len(parts) > 1 and all(part in seen for part in parts)
        if divides and _levels(weight) == _joined([_levels(seen[part]) for part in parts]):
            return "".join(chosen[seen[part]] for part in parts)
    return chosen[weight]


def _levels(weight: bytes) -> tuple[bytes, ...]:
    """The levels of a weight string, which a weight of 0000 separates; without empty ones at the end."""
    levels = [b""]
    for start in range(0, len(weight), 2):
        if weight[start : start + 2] == b"\0\0":
            levels.append(b"")
        else:
            levels[-1] += weight[start : start + 2]
    while levels and not levels[-1]:
        levels.pop()
    return tuple(levels)


def _joined(parts: list[tuple[bytes, ...]]) -> tuple[bytes, ...]:
    depth = max((len(part) for part in parts), default=0)
    return tuple(b"".join(part[level] for part in parts if level < len(part)) for level in range(depth))


def write_folds(servers: list[LiveServer]) -> None:
    """Write the data files: roots first, then the collations that differ from them, from the first server with each."""
    todo = _sections(servers)
    folds: dict[tuple[str, str], Fold] = {}
    texts: dict[str, list[str]] = defaultdict(list)
    for (file, section), (server, entry) in sorted(todo.items(), key=lambda item: item[0][1] not in _ROOTS):
        base = folding.BASES[_base(file, section)]
        # Only collations of several levels can tell case apart (0900, uca1400) and have a Czech one among the 8-bit.
        levels = section.endswith(("_as_cs", "_as_ci", "_ai_cs", "_ks")) and file.startswith("uca")
        unit = {"national": 1 if section == "latin1_german2_ci" else 0, "general": 0}.get(file, 2)
        fold = fold_by_weights(weights(server, entry), base, levels=levels, unit=unit)
        if file == "national":
            fold = _confirmed(server, entry, fold)
        folds[file, section] = fold
        candidates = [root for root in _parents(section) if (file, root) in folds and root != section]
        options = [
            (_runs({c: k for c, k in fold.items() if k != folds[file, root].get(c)}), root) for root in candidates
        ]
        options = options or [(_runs({c: key for c, key in fold.items() if key != base(c)}), "-")]
        runs, parent = min(options, key=lambda option: len(option[0]))
        texts[file] += [f"[{section} {parent} {_base(file, section)}]", *runs]
        sys.stderr.write(f"{file} {section}: {len(runs)} lines over {parent}, from {server.run.stem}\n")
    for file, lines in texts.items():
        title = "# How collations fold characters; see forge.charsets.folding"
        path = Path(__file__).parent / "data" / f"{file}.fold"
        path.write_text("\n".join([title, *lines]) + "\n", encoding="ascii")


def _confirmed(server: LiveServer, entry: Collation, fold: Fold) -> Fold:
    """The fold without what the server's ``=`` denies: big5_chinese_ci sorts by strokes, and compares by code."""
    pairs = [(character, key) for character, key in fold.items() if len(key) == 1 and key != character]
    denied = set(pairs) - equal_pairs(server, entry, pairs)
    return fold | {character: character for character, _ in denied}


def equal_pairs(server: LiveServer, entry: Collation, pairs: list[tuple[str, str]]) -> set[tuple[str, str]]:
    """Those of the pairs of characters which the server's ``=`` calls equal under a collation."""
    if not pairs:
        return set()
    sql = [prepare(), "CREATE TABLE pair (a VARCHAR(1), b VARCHAR(1)) CHARACTER SET utf8mb4;"]
    for start in range(0, len(pairs), 5000):
        rows = ", ".join(
            f"(_utf8mb4 x'{a.encode().hex()}', _utf8mb4 x'{b.encode().hex()}')" for a, b in pairs[start : start + 5000]
        )
        sql.append(f"INSERT INTO pair VALUES {rows};")
    a, b = (f"CONVERT({column} USING {entry.charset}) COLLATE {entry.name}" for column in "ab")
    sql.append(f"SELECT HEX(CONVERT(a USING utf32)), HEX(CONVERT(b USING utf32)) FROM pair WHERE {a} = {b};")
    return {(chr(int(a, 16)), chr(int(b, 16))) for a, b in server.rows("\n".join(sql))}


def _sections(servers: list[LiveServer]) -> dict[tuple[str, str], tuple[LiveServer, Collation]]:
    todo: dict[tuple[str, str], tuple[LiveServer, Collation]] = {}
    for server in servers:
        for entry in sorted(collations_of(server), key=lambda entry: (entry.charset != "utf8mb4", entry.id)):
            if not is_exact(entry.id):
                todo.setdefault(folding.place_of(entry), (server, entry))
    return todo


def _base(file: str, section: str) -> str:
    if file == "national":
        return "same"
    return _ROOTS.get(section) or _ROOTS[_parents(section)[0]]


def _parents(section: str) -> list[str]:
    for family in ("0900", "uca1400"):
        if family in section:
            ending = next(e for e in ("ai_ci", "as_ci", "ai_cs", "as_cs") if section.removesuffix("_ks").endswith(e))
            return [f"{family}_{ending}"]
    if "general" in section:
        return ["general_ci"]
    return ["unicode_ci", "unicode_520_ci"]


def _runs(fold: Fold) -> list[str]:
    """Lines of a section for these characters."""
    runs: list[tuple[int, int, str, str]] = []
    for character in sorted(fold):
        key = fold[character]
        if runs:
            first, count, start, kind = runs[-1]
            if ord(character) == first + count:
                if kind in "c1" and key == start:
                    runs[-1] = (first, count + 1, start, "c")
                    continue
                if kind in "+1" and len(key) == len(start) == 1 and ord(key) == ord(start) + count:
                    runs[-1] = (first, count + 1, start, "+")
                    continue
        runs.append((ord(character), 1, key, "1"))
    return [
        f"{first:x} {count} {'.'.join(f'{ord(c):x}' for c in key) or '-'}{'+' if kind == '+' else ''}"
        for first, count, key, kind in runs
    ]


def collations_of(server: LiveServer) -> Iterator[Collation]:
    """The collations of a running server, binary not among them."""
    view = "collations" if server.family == "mysql" else "collation_character_set_applicability"
    column = "collation_name" if server.family == "mysql" else "full_collation_name"
    for row in server.rows(f"SELECT {column} FROM information_schema.{view} WHERE {column} <> 'binary'"):
        yield collation(row[0], server.family)


def disagreements(server: LiveServer, entry: Collation) -> list[str]:
    """Pairs of characters (a text each) of which our keys say another thing than the server's weights and ``=``."""
    seen = {character: weight.rstrip(b"\0") for character, weight in weights(server, entry).items()}
    # Between letters, so that neither padding nor an empty key hides anything.
    own = {character: compare_key(entry.id, f"x{character}x") for character in seen}
    split = _pairs(seen, own)
    joined = _pairs(own, seen)
    equal = equal_pairs(server, entry, split + joined)
    return [f"server equal: {_points(pair)}" for pair in split if pair in equal] + [
        f"ours equal: {_points(pair)}" for pair in joined if pair not in equal
    ]


def _pairs(ours: Mapping[str, str | bytes], theirs: Mapping[str, str | bytes]) -> list[tuple[str, str]]:
    """Pairs of characters which ``one`` calls equal and ``other`` does not: each with the first of its group."""
    groups: dict[str | bytes, list[str]] = defaultdict(list)
    for character, key in ours.items():
        groups[key].append(character)
    return [(same[0], c) for same in groups.values() for c in same[1:] if theirs[same[0]] != theirs[c]]


def _points(characters: tuple[str, ...]) -> str:
    return " ".join(f"U+{ord(character):04X}" for character in characters)


def main(arguments: list[str] | None = None) -> int:
    """Write the data files, or list disagreements; exit code 1 if there are any."""
    parser = argparse.ArgumentParser(prog="python -m tests.charsets.measuring.weights", description=__doc__)
    parser.add_argument("--server", type=Path, action="append", required=True, help="an unpacked server")
    parser.add_argument("--collation", action="append", help="compare only these collations")
    parser.add_argument("--write", action="store_true", help="write the data files instead of comparing")
    options = parser.parse_args(arguments)
    if options.write:
        _write(options.server)
        return 0
    total = 0
    for run in options.server:
        with LiveServer(run) as server:
            for entry in collations_of(server):
                if options.collation and entry.name not in options.collation:
                    continue
                lines = disagreements(server, entry)
                total += len(lines)
                sys.stdout.write("".join(f"{entry.name}: {line}\n" for line in lines))
                sys.stderr.write(f"{entry.name}: {len(lines)} disagreements with {server.run.stem}\n")
    return 1 if total else 0


def _write(runs: list[Path]) -> None:
    from contextlib import ExitStack

    with ExitStack() as stack:
        write_folds([stack.enter_context(LiveServer(run)) for run in runs])


if __name__ == "__main__":
    sys.exit(main())
