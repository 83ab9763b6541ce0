"""The section in a file of the person's: its lines change, not another byte does."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bead.section import BEGIN, END, Unclear, spans, with_section, without_section


def test_it_comes_at_the_end_is_replaced_in_its_place_and_goes_again() -> None:
    first = with_section("# Mine\n", "- tea")
    assert first == f"# Mine\n\n{BEGIN}\n- tea\n{END}\n"
    moved = first + "\nmore of mine\n"
    second = with_section(moved, "- coffee\n- cake")
    assert second == f"# Mine\n\n{BEGIN}\n- coffee\n- cake\n{END}\n\nmore of mine\n"
    assert with_section(second, "") == "# Mine\n\n\nmore of mine\n"
    assert with_section(second, "- coffee\n- cake") == second


def test_windows_line_ends_stay() -> None:
    text = with_section("a\r\nb\r\n", "- tea")
    assert text == f"a\r\nb\r\n\r\n{BEGIN}\r\n- tea\r\n{END}\r\n"
    assert with_section(text, "- tea") == text


@pytest.mark.parametrize(
    "text", [BEGIN, END, f"{END}\n{BEGIN}\n", f"{BEGIN}\n{END}\n{BEGIN}\n{END}\n", f"{BEGIN}\n{BEGIN}\n{END}"]
)
def test_markers_that_make_no_single_section_are_refused(text: str) -> None:
    with pytest.raises(Unclear):
        with_section(text, "- tea")


def test_a_fact_cannot_close_the_section() -> None:
    text = with_section("", f"- {END} and {BEGIN}")
    assert len(spans(text)) == 1
    assert with_section(text, "- tea") == f"{BEGIN}\n- tea\n{END}\n"


@given(
    before=st.text(alphabet="ab\n #<!->é\ufeff"),
    after=st.text(alphabet="ab\n #é"),
    lines=st.text(alphabet="ab\n<!->", min_size=1),
)
def test_every_byte_around_the_section_stays(before: str, after: str, lines: str) -> None:
    text = f"{before}\n{BEGIN}\nold\n{END}\n{after}"
    new = with_section(text, lines)
    (span,) = spans(new)
    assert (new[: span[0]], new[span[1] :]) == (f"{before}\n", after)
    assert without_section(new).count("\n") == new.count("\n")
