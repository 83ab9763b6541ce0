"""What a person or a script sees: text or one JSON document on standard output, diagnostics on standard error."""

from collections.abc import Mapping
from typing import Any, TextIO

from bead.errors import BeadError, to_problem

_STYLES = {"bold": "1", "dim": "2", "green": "32", "yellow": "33", "red": "31"}


class Output:
    """Writes answers; knows whether colours and raw control characters are welcome."""

    def __init__(self, stdout: TextIO, stderr: TextIO, *, as_json: bool, environ: Mapping[str, str]) -> None:
        self._stdout = stdout
        self._stderr = stderr
        self.as_json = as_json
        self.is_terminal = stdout.isatty()
        self._colours = self.is_terminal and not environ.get("NO_COLOR") and environ.get("TERM") != "dumb"

    def document(self, document: Any) -> None:
        """The one JSON document of a `--json` run."""
        import json  # late: most commands print text

        self._stdout.write(json.dumps(document, ensure_ascii=False) + "\n")
        self._stdout.flush()

    def text(self, text: str = "") -> None:
        """One or more lines for a person."""
        self._stdout.write(text + "\n")
        self._stdout.flush()

    def note(self, text: str) -> None:
        """A line beside the answer."""
        self._stderr.write(f"bead: {text}\n")
        self._stderr.flush()

    def bar(self, done: int, total: int, width: int = 30) -> None:
        """How far long work is, on one line of a terminal that the next call writes over; ended by `done == total`."""
        filled = width * done // total if total else 0
        self._stderr.write(
            f"\r[{'#' * filled}{' ' * (width - filled)}] {done}/{total}{chr(10) if done == total else ''}"
        )
        self._stderr.flush()

    def ask(self, question: str) -> None:
        """A question on the terminal, its answer on the same line."""
        self._stderr.write(question)
        self._stderr.flush()

    def error(self, error: BeadError) -> None:
        """One line for a person, and the problem document when a script asked."""
        self.note(" ".join(error.message.split()))
        if self.as_json:
            self.document(to_problem(error))

    def style(self, name: str, text: str) -> str:
        """`text` in a style, on a terminal that wants one."""
        return f"\x1b[{_STYLES[name]}m{text}\x1b[0m" if self._colours else text

    def stored(self, text: str) -> str:
        """Stored text as it may be printed: on a terminal its control characters must not act (T6)."""
        if not self.is_terminal:
            return text
        return "".join(char if char.isprintable() or char in "\n\t" else "\N{REPLACEMENT CHARACTER}" for char in text)


def one_line(text: str, limit: int) -> str:
    """`text` on one line of at most `limit` characters, its end marked when it was cut."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1].rstrip() + "…"
