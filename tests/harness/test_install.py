"""Installing a harness, with a stand-in for npm: once, whole or not at all, and with words when it cannot be done."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.harness.install import HarnessUnavailable, cache_folder, installed_agent, installed_claude_code

GOOD_NPM = """#!/bin/sh
echo called >> "$NPM_LOG"
while [ "$1" != --prefix ]; do shift; done
modules="$2/node_modules"
mkdir -p "$modules/.bin" "$modules/node/bin" "$modules/@anthropic-ai/claude-code"
truncate -s 20000000 "$modules/.bin/claude"
printf '#!/bin/sh\\n' > "$modules/node/bin/node"
chmod +x "$modules/.bin/claude" "$modules/node/bin/node"
"""
STUB_NPM = GOOD_NPM.replace("20000000", "500")
FAILING_NPM = "#!/bin/sh\nmkdir -p node_modules/.bin\necho 'no such package' >&2\nexit 1\n"


@pytest.fixture
def use_npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes that script the npm of this test."""
    programs = tmp_path / "programs"
    programs.mkdir()
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("NPM_LOG", str(tmp_path / "npm.log"))

    def use(script: str) -> None:
        (programs / "npm").write_text(script)
        (programs / "npm").chmod(0o700)

    return use


def test_two_at_once_install_once(tmp_path: Path, use_npm: Callable[[str], None]) -> None:
    use_npm(GOOD_NPM)

    with ThreadPoolExecutor(2) as pool:
        folders = list(pool.map(installed_claude_code, [tmp_path / "cache"] * 2))

    assert folders[0] == folders[1]
    assert (folders[0] / "node_modules/.bin/claude").exists()
    assert (tmp_path / "npm.log").read_text() == "called\n"


@pytest.mark.parametrize(("broken", "told"), [(FAILING_NPM, "no such package"), (STUB_NPM, "without its program")])
def test_half_an_install_does_not_count_and_is_tried_again(
    tmp_path: Path, use_npm: Callable[[str], None], broken: str, told: str
) -> None:
    use_npm(broken)
    with pytest.raises(HarnessUnavailable, match=told):
        installed_claude_code(tmp_path / "cache")
    assert not [path for path in (tmp_path / "cache").iterdir() if path.is_dir()]

    use_npm(GOOD_NPM)

    assert installed_claude_code(tmp_path / "cache").is_dir()


def test_another_agent_is_installed_once_under_its_version(tmp_path: Path, use_npm: Callable[[str], None]) -> None:
    use_npm(FAILING_NPM)
    with pytest.raises(HarnessUnavailable, match="no such package"):
        installed_agent("@made/up", "1.2.3", tmp_path / "cache")
    use_npm(GOOD_NPM)

    folders = {installed_agent("@made/up", "1.2.3", tmp_path / "cache") for _ in range(2)}

    assert [folder.name.startswith("made-up-1.2.3-node-") for folder in folders] == [True]
    assert (tmp_path / "npm.log").read_text() == "called\n"


def test_a_missing_npm_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))

    with pytest.raises(HarnessUnavailable, match="npm is not installed"):
        installed_claude_code(tmp_path / "cache")


def test_the_cache_is_where_the_environment_says(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("BEAD_TEST_CACHE", raising=False)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    assert cache_folder() == Path.home() / ".cache/bead-tests"

    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    assert cache_folder() == tmp_path / "bead-tests"

    monkeypatch.setenv("BEAD_TEST_CACHE", str(tmp_path / "named"))
    assert cache_folder() == tmp_path / "named"
