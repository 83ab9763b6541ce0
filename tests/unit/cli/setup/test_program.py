"""Which name of `bead` a unit and a profile may hold: absolute, and still there after an upgrade."""

from pathlib import Path

import pytest

from bead_cli.setup import program


def installed(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("folder", ["Cellar/bead/1.0/bin", "nix/store/abc-bead/bin", "mise/installs/bead/1.0/bin"])
def test_a_link_outlives_the_version_it_leads_to(folder: str, tmp_path: Path) -> None:
    real = installed(tmp_path / folder / "bead")
    link = tmp_path / "bin" / "bead"
    link.parent.mkdir()
    link.symlink_to(real)
    environ = {"PATH": f"relative:{real.parent}:{link.parent}"}
    assert program.stable(str(real), environ) == str(link)


def test_a_link_to_another_bead_is_not_taken(tmp_path: Path) -> None:
    real = installed(tmp_path / "Cellar" / "bead" / "1.0" / "bead")
    other = installed(tmp_path / "bin" / "bead")
    assert program.stable(str(real), {"PATH": str(other.parent)}) == str(real)


@pytest.mark.parametrize(
    "path", ["/tmp/x/bead", "/var/tmp/bead", "/home/me/.cache/uv/archive/bin/bead", "/Users/me/Library/Caches/x/bead"]
)
def test_a_place_that_is_cleaned_up_is_known(path: str) -> None:
    assert program.temporary(path, {})


def test_a_place_that_an_environment_names_for_a_while_is_known() -> None:
    assert program.temporary("/fast/disk/uv/bead", {"UV_CACHE_DIR": "/fast/disk/uv"}) == "/fast/disk/uv"


@pytest.mark.parametrize(
    "path", ["/home/me/.local/share/uv/tools/bead/bin/bead", "/home/me/.local/bin/bead", "/opt/homebrew/bin/bead"]
)
def test_a_place_that_stays_is_fine(path: str) -> None:
    assert program.temporary(path, {}) == ""
