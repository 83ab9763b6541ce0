"""What the gate may import."""

import ast
from pathlib import Path

import bead_index.gate

ALLOWED = ("bead_index.gate", "bead.text", "bead.facts", "bead.recall")
PURE = frozenset({"re", "heapq", "math", "unicodedata", "collections", "dataclasses", "enum", "functools", "itertools"})


def test_the_gate_knows_only_terms_and_the_words_of_the_domain() -> None:
    """The fact table holds the cards, so a gate that imported it, or anything above it, would be a circle."""
    for path in Path(bead_index.gate.__file__).parent.glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
            names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            for name in names:
                assert name.startswith(ALLOWED) or name.split(".")[0] in PURE | {"typing"}, f"{path.name}: {name}"
