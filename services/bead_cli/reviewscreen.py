"""`bead review` on a terminal: the list, one item with everything about it, and seven keys (prompt_toolkit).

What they do is `reviewing`. Text that is shown comes from others: what could act on the terminal is replaced.
"""

from collections.abc import Callable

from prompt_toolkit.application import Application
from prompt_toolkit.buffer import Buffer
from prompt_toolkit.filters import Condition
from prompt_toolkit.formatted_text import StyleAndTextTuples
from prompt_toolkit.key_binding import KeyBindings, KeyPressEvent
from prompt_toolkit.layout import ConditionalContainer, HSplit, Layout, Window
from prompt_toolkit.layout.controls import BufferControl, FormattedTextControl

from bead_cli.reviewing import Desk, Waiting

_KEYS = "j next  k back  a accept  e edit and accept  r reject  A R all of this agent  q end"
_EDITING = "the text in your words; Ctrl-S accepts it, Esc leaves it as it was"
_LIST_ROWS = 8


class Screen:
    """One review, until the person ends it."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk
        self._is_editing = False
        self._asked: tuple[bool, list[Waiting]] | None = None
        """What one more press of the same key decides: whether it accepts, and exactly these."""
        self._buffer = Buffer(multiline=True)
        editing = Condition(lambda: self._is_editing)
        self._shown = Window(FormattedTextControl(self._text, focusable=True, show_cursor=False), wrap_lines=True)
        self._editor = Window(BufferControl(self._buffer), wrap_lines=True, height=8)
        body = HSplit(
            [
                self._shown,
                ConditionalContainer(self._editor, editing),
                Window(FormattedTextControl(self._foot), height=2, wrap_lines=True),
            ]
        )
        self.app: Application[None] = Application(
            Layout(body, self._shown), key_bindings=self._bindings(editing), full_screen=True, mouse_support=False
        )
        self.app.ttimeoutlen = 0.05

    def run(self) -> None:
        """Until `q`."""
        self.app.run()

    def _bindings(self, editing: Condition) -> KeyBindings:
        keys, reading = KeyBindings(), ~editing

        def on(*names: str, do: Callable[[], None]) -> None:
            for name in names:
                keys.add(name, filter=reading)(lambda event: self._pressed(do))

        on("j", "down", do=lambda: self._desk.move(1))
        on("k", "up", do=lambda: self._desk.move(-1))
        on("a", do=lambda: self._desk.accept())
        on("r", do=lambda: self._desk.reject())
        keys.add("A", filter=reading)(lambda event: self._decide_all(accept=True))
        keys.add("R", filter=reading)(lambda event: self._decide_all(accept=False))
        on("e", do=self._edit)
        on("q", do=lambda: self.app.exit())
        keys.add("c-c")(lambda event: event.app.exit())
        keys.add("c-s", filter=editing)(self._accept_edited)
        keys.add("escape", filter=editing, eager=True)(lambda event: self._stop_editing())
        return keys

    def _pressed(self, do: Callable[[], None]) -> None:
        self._asked = None
        do()

    def _decide_all(self, *, accept: bool) -> None:
        """The first press says what the second one does."""
        desk, asked, self._asked = self._desk, self._asked, None
        if asked is not None and asked[0] == accept:
            desk.decide_all(asked[1], accept=accept)
        elif items := desk.all_of_agent(accept=accept):
            self._asked = (accept, items)
            key, verb = ("A", "accept") if accept else ("R", "reject")
            desk.said = f"{key} again: {verb} all {len(items)} of {items[0].agent}"
        else:
            desk.said = "what reads like an instruction is accepted one by one"

    def _edit(self) -> None:
        if self._desk.current is None:
            return
        self._is_editing = True
        self._buffer.text = self._desk.current.body
        self._buffer.cursor_position = len(self._buffer.text)
        self.app.layout.focus(self._editor)

    def _accept_edited(self, event: KeyPressEvent) -> None:
        text, item = self._buffer.text.strip(), self._desk.current
        self._stop_editing()
        if not text or item is None:
            self._desk.said = "an empty text is not accepted"
        else:
            self._desk.accept(None if text == item.body else text)

    def _stop_editing(self) -> None:
        self._is_editing = False
        self.app.layout.focus(self._shown)

    def _text(self) -> StyleAndTextTuples:
        desk, item = self._desk, self._desk.current
        if item is None:
            return [("bold", "Nothing waits for you.\n")]
        lines: StyleAndTextTuples = [("", f"{desk.at + 1} of {len(desk.items)}\n")]
        start = max(0, min(desk.at - _LIST_ROWS // 2, len(desk.items) - _LIST_ROWS))
        for number, each in enumerate(desk.items[start : start + _LIST_ROWS], start):
            mark = ">" if number == desk.at else " "
            lines.append(("reverse" if number == desk.at else "", f"{mark} {harmless(each.key)}  ({each.about})\n"))
        lines += [("", "\n"), ("bold", f"{harmless(item.key)}\n"), ("", f"{harmless(item.body)}\n\n")]
        lines += [("bold", f"{harmless(note)}\n") for note in item.notes]
        lines += [("", f"{harmless(line)}\n") for line in desk.details()]
        return lines

    def _foot(self) -> StyleAndTextTuples:
        keys = _EDITING if self._is_editing else _KEYS
        return [("reverse", f"{harmless(self._desk.said)}\n"), ("", keys)]


def harmless(text: str) -> str:
    """`text` without what a terminal would act upon or a person could not see."""
    return "".join(char if char.isprintable() or char == "\n" else "\N{REPLACEMENT CHARACTER}" for char in text)
