"""What a step is for."""

import pytest

from bead_index.gate.steps import Kind, failure_lines, intent, is_listing, only_asks, read_input


@pytest.mark.parametrize(
    ("tool_input", "output", "kind"),
    [
        ("src/app/main.py\n20\n12", "    20\tdef main():", Kind.LOOK),
        ("git status && ls -la", "", Kind.LOOK),
        ("cache\\.\nsrc/server", "src/server/a.ts:12: cache.get()\nsrc/server/b.ts:40: cache.get()", Kind.LOOK),
        ("cargo test", "ok", Kind.ACT),
        ("cat x && rm x", "", Kind.ACT),
        ("bash\n-lc\ngit diff --stat", "", Kind.LOOK),
        ("ls -la src\n120000\nList the source folder", "", Kind.LOOK),
        ("cat > notes.md <<'EOF'\nhello\nEOF", "", Kind.EDIT),
        ("*** Begin Patch\n*** Update File: a.py\n-old\n+new\n*** End Patch", "", Kind.EDIT),
        ("src/app/main.py\nold = 1\nnew = 2", "The file has been updated.", Kind.EDIT),
    ],
)
def test_a_tool_call_is_told_by_the_shape_of_its_texts(tool_input: str, output: str, kind: Kind) -> None:
    assert read_input(tool_input, is_listing(output)).kind is kind


@pytest.mark.parametrize("text", ["which port does it listen on?", "und warum ist das so?", "ok, what is a hook?"])
def test_a_lone_question_only_asks(text: str) -> None:
    assert only_asks(text)


@pytest.mark.parametrize(
    "text", ["can you run the tests?", "Fix it. Why is it red?", "could we start earlier?", "add a column", ""]
)
def test_a_request_does_not_only_ask(text: str) -> None:
    assert not only_asks(text)


def test_a_plan_to_look_is_no_plan_to_change() -> None:
    assert intent("I'll look at the loader.") == (False, True)
    assert intent("I\u2019ll rewrite the loader.") == (True, False)
    assert intent("The loader is in load.py.") == (False, False)


def test_only_the_lines_around_a_failure_are_failure_lines() -> None:
    output = "\n".join(["fine"] * 10 + ["ValueError: no"] + ["fine"] * 10)
    assert failure_lines(output).count("\n") == 4
    assert failure_lines("all good") == ""


def test_what_a_patch_removes_is_not_what_it_writes() -> None:
    text = read_input("*** Begin Patch\n*** Update File: a.py\n-x: float32\n+x: Decimal\n*** End Patch", False).text
    assert "Decimal" in text
    assert "float32" not in text


def test_the_description_of_a_command_is_an_announcement_and_no_command() -> None:
    read = read_input("cargo test -p loom\n600000\nRun the tests of the crate", False)
    assert (read.text, read.announcement) == ("cargo test -p loom", "Run the tests of the crate")
