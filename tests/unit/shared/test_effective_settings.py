"""The settings in force are told with what made each of them, and never a secret."""

from pathlib import Path

from bead.home import Home
from bead.settings import Effective, effective, load_settings


def told(root: Path, config: str, **environ: str) -> dict[str, Effective]:
    home = Home(root)
    home.config.write_text(config)
    return {each.name: each for each in effective(home, environ, load_settings(home, environ))}


def test_each_value_names_the_variable_the_file_or_the_default(tmp_path: Path) -> None:
    found = told(tmp_path, "index:\n  port: 1\n  gate: strict\n", BEAD_INDEX__PORT="2")
    assert (found["index.port"].value, found["index.port"].source) == (2, "BEAD_INDEX__PORT")
    assert (found["index.gate"].value, found["index.gate"].source) == ("strict", str(tmp_path / "config.yaml"))
    assert (found["store.port"].value, found["store.port"].source) == (7071, "default")


def test_a_login_in_an_address_is_not_told(tmp_path: Path) -> None:
    found = told(tmp_path, "proxy:\n  upstream:\n    anthropic: http://somebody:hunter2@127.0.0.1:8080/x\n")
    assert found["proxy.upstream.anthropic"].value == "http://(login)@127.0.0.1:8080/x"
