"""Every command that a message, a help text or a page names is one that exists."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

from bead_cli.catalogue import BY_NAME, COMMANDS, PLANNED

REPOSITORY = Path(__file__).parents[2]
# In quotes or backticks, after a colon, or alone on a line as in an example; anything else is a sentence about bead.
_COMMAND = r"bead (?:--home \S+ )?([a-z][a-z-]*)"
_IN_CODE = re.compile(rf"(?:[`'\"]|: |^[ ]{{2,}}){_COMMAND}", re.MULTILINE)
_IN_PAGE = re.compile(rf"(?:`|^[ ]{{2,}}(?:\.venv/bin/|docker compose exec proxy )?){_COMMAND}", re.MULTILINE)
_PAGES = ("README.md", "services/README.md", "CHANGELOG.md")


def texts_of(path: Path) -> Iterator[str]:
    """What the program may say: string literals, those of format strings too, and no docstrings."""
    tree = ast.parse(path.read_text())
    documented = (ast.Module, ast.ClassDef, ast.FunctionDef, ast.AsyncFunctionDef)
    docstrings = {
        id(node.body[0].value)
        for node in ast.walk(tree)
        if isinstance(node, documented) and node.body and isinstance(node.body[0], ast.Expr)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
            yield node.value


def sources() -> list[Path]:
    """Everything that is part of a service, and the commands that can be called."""
    found = [path for folder in ("services", "shared") for path in sorted((REPOSITORY / folder).rglob("*.py"))]
    called = {command.module for command in COMMANDS}
    return [path for path in found if path.parent.name != "commands" or path.stem in called]


def test_every_command_that_a_message_or_help_text_names_exists() -> None:
    named = {(name, path.name) for path in sources() for text in texts_of(path) for name in _IN_CODE.findall(text)}
    assert {"up", "status", "down", "wrap"} <= {name for name, _ in named}
    assert {(name, path) for name, path in named if name not in BY_NAME} == set()


@pytest.mark.parametrize("page", _PAGES)
def test_every_command_that_a_page_names_exists_or_is_said_not_to_yet(page: str) -> None:
    text = (REPOSITORY / page).read_text()
    parts = [part for part in re.split(r"\n\n|\n(?=- )", text) if "not yet" not in part.lower()]
    assert {name for part in parts for name in _IN_PAGE.findall(part)} <= set(BY_NAME)
    assert set(_IN_PAGE.findall(text)) <= set(BY_NAME) | PLANNED
