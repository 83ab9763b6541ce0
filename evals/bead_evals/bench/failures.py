"""The one error of a bench: it could not measure what it was asked to. Its text is for the person at the terminal."""


class BenchFailed(Exception):
    """No number is better than a wrong one. `exit_code`: 1 a refused measurement, 3 a part that did not start."""

    def __init__(self, text: str, exit_code: int = 1) -> None:
        super().__init__(text)
        self.exit_code = exit_code
