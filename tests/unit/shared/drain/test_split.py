"""How files of agents' memories fall into memories: golden tables, and nothing of a file is lost."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.drain.split import gemini_file, index_file, whole_file

TOPICS = {"role.md", "ship.md"}
INDEX: dict[str, tuple[str, tuple[str, ...]]] = {
    "one bullet a memory, marks taken off": ("- one\n* two\n+ three\n1. four\n", ("one", "two", "three", "four")),
    "nested bullets belong to theirs": (
        "- top\n  - below\n    - deeper\n- next\n", ("top\n- below\n  - deeper", "next")),
    "a bullet goes on after an empty line": ("- top\n\n  more of it\n\n- next\n", ("top\n\nmore of it", "next")),
    "a line without indent goes on": ("- top\ngoes on\n", ("top\ngoes on",)),
    "a section is one memory": (
        "- a\n## Build\n- make\n- test\n\ntext\n### Sub\nx\n", ("a", "## Build\n- make\n- test\n\ntext\n### Sub\nx"),
    ),
    "index lines are none": ("# Memory\n- [Role](role.md) — who\n- [Ship](./ship.md): how\n- [X](x.md)\n", ()),
    "a hook of a file that is not there speaks": (
        "- [Gone](gone.md) — never on Fridays\n", ("[Gone](gone.md) — never on Fridays",)),
    "a link to elsewhere is a memory": ("- [docs](https://host.example/a)\n", ("[docs](https://host.example/a)",)),
    "a link within a sentence is a memory": ("- see [Role](role.md) first\n", ("see [Role](role.md) first",)),
    "an index line with more below it is one": (
        "- [Role](role.md) — who\n  - and more\n", ("[Role](role.md) — who\n- and more",)),
    "index lines leave their section": ("## Index\n- [Role](role.md) — who\n- real\n", ("## Index\n- real",)),
    "a section of nothing is none": ("## Index\n\n- [Role](role.md)\n## Empty\n", ()),
    "text outside is kept": ("preamble\n\n- a\n\nafter\n", ("preamble", "a", "after")),
    "code is no bullet and no heading": (
        "```\n- x\n## y\n```\n\n- a\n  ```sh\n- b\n  ```\n", ("```\n- x\n## y\n```", "a\n```sh\n- b\n```"),
    ),
    "a fence within a longer fence does not end it": ("````\n```\n- x\n````\n", ("````\n```\n- x\n````",)),
    "a fence that never ends takes the rest": ("- a\n\n```\n- x\n", ("a", "```\n- x")),
    "front matter is text": ("---\nname: x\n---\n- a\n", ("---\nname: x\n---", "a")),
    "CRLF, BOM, no end of line": ("\ufeff- a\r\n  - b\r\n- c", ("a\n- b", "c")),
    "emoji and other scripts": ("- \U0001f680 ship\n- 出荷\n", ("\U0001f680 ship", "出荷")),
    "empty bullets are none": ("-\n- \n\n", ("-",)),
    "tabs": ("-\ta\n\t- b\n", ("a\n\t- b",)),
    "nothing": ("\n \n", ()),
    "ten kilobytes": ("- " + "x" * 10_000 + "\n- y\n", ("x" * 10_000, "y")),
}  # fmt: skip
HEAD = "## Gemini Added Memories\n"
GEMINI: dict[str, tuple[str, tuple[str, ...], str, bool]] = {
    "bullets of the section only": (
        f"# Rules\n- mine\n\n{HEAD}- a\n- a\n- b\n  (more)\n* c\n\n## Later\n- mine too\n",
        ("a", "a", "b\n(more)", "c"), "# Rules\n- mine\n\n## Later\n- mine too\n", True,
    ),
    "CRLF and no end": (f"intro\r\n{HEAD[:-1]}\r\n- last", ("last",), "intro\r\n", True),
    "the heading in code is code": (
        f"{HEAD}- one\n\n```md\n{HEAD}- code\n```\n\n{HEAD}- two\n",
        ("one", "two"), f"{HEAD}```md\n{HEAD}- code\n```\n\n", True,
    ),
    "without the heading nothing is known": ("# Memory\n- short answers\n", (), "# Memory\n- short answers\n", False),
    "another heading is not it": (
        "## Gemini Added Memories (old)\n- x\n", (), "## Gemini Added Memories (old)\n- x\n", False),
    "a heading of level one ends it": (f"{HEAD}- a\n# Mine\n- b\n", ("a",), "# Mine\n- b\n", True),
    "a person's line in the section stays": (f"{HEAD}my own line\n\n- a\n", ("a",), f"{HEAD}my own line\n\n", True),
    "a BOM before the heading": (f"\ufeff{HEAD}- a\n", ("a",), "", True),
}  # fmt: skip


@pytest.mark.parametrize("name", INDEX)
def test_an_index_falls_into_these_memories(name: str) -> None:
    text, expected = INDEX[name]
    assert index_file(text, TOPICS) == expected


@pytest.mark.parametrize("name", GEMINI)
def test_a_gemini_file_gives_these_memories_and_keeps_the_rest(name: str) -> None:
    text, memories, rest, is_there = GEMINI[name]
    assert gemini_file(text) == (memories, rest, is_there)


LINES = st.lists(
    st.sampled_from(
        [
            "- ",
            "* b",
            "  - c",
            "## S",
            "# T",
            "### U",
            "```",
            "~~~",
            "",
            "text",
            " x",
            "\ttab",
            HEAD[:-1],
            "- [R](role.md)",
        ]
    ),
    max_size=25,
)


@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_a_gemini_file_without_its_memories_has_none_and_loses_no_other_line(lines: list[str], end: str) -> None:
    text = end.join(lines)
    found = gemini_file(text)

    again = gemini_file(found.rest)
    assert (again.memories, again.rest) == ((), found.rest)
    if not found.is_there:
        assert found.rest == text


@given(LINES)
def test_no_word_of_an_index_is_lost(lines: list[str]) -> None:
    said = "\n".join(index_file("\n".join(lines), TOPICS))

    for word in ("text", "b", "c", "x", "tab"):
        wanted = sum(line.split()[-1:] == [word] for line in lines)
        assert sum(line.split()[-1:] == [word] for line in said.splitlines()) == wanted


def test_a_topic_file_is_one_memory_as_it_stands() -> None:
    text = "---\nname: role\nmetadata:\n  type: user\n---\n\n- a\n- b\n"
    assert whole_file(text) == (text,)
    assert whole_file("\ufeff \r\n") == ()
