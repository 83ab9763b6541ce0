"""The whole bench with a stand-in for bead: what it does when all works, and how it ends when something does not."""

import functools
import json
import os
import sys
from pathlib import Path

import pytest

from bead_evals.bench import embedded, measure, proxy
from bead_evals.bench.embedded import seed_facts
from bead_evals.bench.report import README_BEGIN, README_END

STANDIN = (sys.executable, str(Path(__file__).with_name("standin.py")))
FAST = ["--rounds", "1", "--warmup", "1", "--turns", "2", "--events", "2", "--sizes", "30KB", "--facts", "15"]


@pytest.fixture(autouse=True)
def standin(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(proxy, "bead", functools.partial(embedded.bead, command=STANDIN))
    monkeypatch.setattr(proxy, "INJECTION_LIMIT_S", 0.5)
    monkeypatch.setattr(measure, "SETTLE_S", 0.0)


def test_a_run_saves_and_publishes_what_it_prints(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved, readme = tmp_path / "results" / "bench.json", tmp_path / "README.md"
    readme.write_text(f"before\n{README_BEGIN}\n{README_END}\nafter\n")

    assert proxy.main([*FAST, "--json", "--save", str(saved), "--readme", str(readme)]) == 0

    printed = capsys.readouterr().out
    document = json.loads(printed)
    assert document == json.loads(saved.read_text())
    targets = document["sizes"][0]["targets"]
    assert [target["name"] for target in targets] == ["direct", "bare", "bead"]
    assert targets[2]["memory_blocks"] == {"1": 2}
    assert targets[2]["inserted_bytes_p50"] > 0
    assert "proxy-token" not in printed
    assert "| 30 KB | bead |" in readme.read_text()
    assert readme.read_text().endswith("after\n")


def test_a_saved_result_is_shown_again_without_measuring(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "bench.json"
    proxy.main([*FAST, "--save", str(saved)])
    shown = capsys.readouterr().out

    assert proxy.main(["--from", str(saved)]) == 0
    assert capsys.readouterr().out == shown


def test_a_ratio_over_the_limit_fails_the_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    saved = tmp_path / "bench.json"
    proxy.main([*FAST, "--save", str(saved)])
    document = json.loads(saved.read_text())
    bead = document["sizes"][0]["targets"][2]
    for ratio, expected in ((1.999, 0), (2.001, 1), (None, 1)):
        bead["ratio"] = ratio
        saved.write_text(json.dumps(document))

        assert proxy.main(["--from", str(saved), "--max-ratio", "2"]) == expected


@pytest.mark.parametrize(
    ("failing", "code", "reason"),
    [
        ("start", 3, "no, not today"),
        ("store", 3, "the store answered 403"),
        ("memory", 1, "this measures nothing"),
    ],
)
def test_trouble_with_bead_ends_the_run_with_a_reason_and_no_table(
    failing: str, code: int, reason: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("STANDIN", failing)

    assert proxy.main(FAST) == code

    captured = capsys.readouterr()
    assert reason in captured.err
    assert captured.out == ""


def test_nothing_of_the_run_stays_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    with embedded.bead("http://127.0.0.1:1", 1, print, command=STANDIN) as target:
        assert target.pid is not None
        os.kill(target.pid, 0)
        assert list(tmp_path.iterdir())

    assert list(tmp_path.iterdir()) == []
    with pytest.raises(ProcessLookupError):
        os.kill(target.pid, 0)


def test_bead_under_test_gets_no_setting_of_a_bead_around_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BEAD_HOME", "/somewhere")
    monkeypatch.setenv("MALLOC_ARENA_MAX", "2")
    monkeypatch.setenv("CLAUDECODE", "1")

    environment = embedded.bead_environment(tmp_path, {"PROXY": 1}, "http://127.0.0.1:2")

    assert {"BEAD_HOME", "MALLOC_ARENA_MAX", "CLAUDECODE"}.isdisjoint(environment)
    assert environment["BEAD_PROXY__PORT"] == "1"
    assert Path(environment["HOME"]).is_relative_to(tmp_path)


@pytest.mark.parametrize("count", [1, 12, 200])
def test_seeded_facts_have_keys_of_their_own(count: int) -> None:
    keys = [fact["key"] for fact in seed_facts(count)]

    assert len(set(keys)) == len(keys) == count


@pytest.mark.parametrize(
    "argv", [["--sizes", "30 bananas"], ["--sizes", "1KB"], ["--rounds", "0"], ["--target", "nginx"]]
)
def test_an_argument_that_makes_no_sense_is_a_usage_error(argv: list[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        proxy.main(argv)

    assert ended.value.code == 2
