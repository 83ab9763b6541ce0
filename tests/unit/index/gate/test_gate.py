"""The gate as the index asks it."""

import random

from bead.facts import TriggerCard
from bead.recall import Cue, CueSource
from bead_index.gate.features import AGAINST, FOR, Candidate, Sign
from bead_index.gate.gate import MAX_CANDIDATES, MAX_SESSIONS, Cards, Decision, TriggerGate
from bead_index.gate.index import ScopeCards, Subject
from bead_index.gate.weights import MODEL

OWNER, SCOPE = "ada", "project/loom"

TESTS = Subject(
    "tests",
    "user/tests",
    "feedback",
    "Run the tests with `just ci`, not bare `cargo test`: only the target sets LOOM_ENV.",
    TriggerCard(
        say=("Run the tests.", "Do the tests pass?", "I'll run the tests of this crate.", "Verify that nothing broke."),
        do=("cargo test", "cargo nextest"),
        see=("LOOM_ENV is not set",),
        unless=("just ci",),
    ),
)
PALETTE = Subject(
    "palette",
    "project/loom/palette",
    "project",
    "Charts use the palette in theme/ink.toml.",
    TriggerCard(say=("Draw a chart of the throughput.", "Change the colours of the plot."), do=("plotters::style",)),
)
FREEZE = Subject(
    "freeze",
    "project/loom/freeze",
    "project",
    "crates/ledger is frozen until the audit ends.",
    TriggerCard(say=("Clean up the ledger crate.",), do=("crates/ledger",)),
)


class Asked:
    """A gate beside the cards that it is asked about."""

    def __init__(self, *subjects: Subject, offsets: dict[str, float] | None = None) -> None:
        self.cards = Cards()
        self.gate = TriggerGate()
        self.gate.calibrate(0.0, offsets or {})
        for subject in subjects or (TESTS, PALETTE, FREEZE):
            self.cards.put(OWNER, SCOPE, subject)

    def judge(
        self, cues: list[Cue], session: str = "s", owner: str = OWNER, scopes: tuple[str, ...] = (SCOPE,)
    ) -> list[Decision]:
        return self.gate.judge(self.cards.view(owner, scopes), owner, session, cues)


def gate(*subjects: Subject) -> Asked:
    return Asked(*subjects)


def person(text: str) -> list[Cue]:
    return [Cue(CueSource.PERSON, text)]


def act(announcement: str, tool_input: str, output: str = "") -> list[Cue]:
    return [
        Cue(CueSource.ASSISTANT, announcement),
        Cue(CueSource.TOOL_INPUT, tool_input),
        Cue(CueSource.TOOL_OUTPUT, output),
    ]


def ask(made: Asked, cues: list[Cue], session: str = "s") -> dict[str, Decision]:
    return {decision.subject.uid: decision for decision in made.judge(cues, session)}


def test_a_command_on_the_card_is_met_with_a_reason_that_names_it() -> None:
    decision = ask(gate(), act("Now I'll run the tests.", "cargo test -p loom"))["tests"]
    assert decision.passes
    assert "`cargo test`" in decision.reason
    assert "nothing shows that it is already followed" in decision.reason


def test_a_step_that_already_follows_the_fact_does_not_get_it() -> None:
    decision = ask(gate(), act("Now I'll run the tests.", "just ci -p loom", "cargo test -p loom\nok"))["tests"]
    assert not decision.passes
    assert "already follows it: `just ci`" in decision.reason


def test_what_was_followed_earlier_in_the_session_speaks_against_it_there_and_only_there() -> None:
    made = gate()
    before = ask(made, person("does it build?"), "s")
    assert "tests" not in before or not before["tests"].passes
    fresh = ask(gate(), person("run the tests"))["tests"].chance
    ask(made, act("Running it.", "just ci"), "s")
    assert ask(made, person("run the tests"), "s")["tests"].chance < fresh
    assert ask(made, person("run the tests"), "other")["tests"].chance == fresh


def test_a_request_in_the_words_of_the_card_is_met_and_small_talk_is_not() -> None:
    made = gate()
    assert ask(made, person("please verify that nothing broke"))["tests"].passes
    assert not any(decision.passes for decision in ask(made, person("thanks, see you tomorrow")).values())


def test_looking_at_a_place_is_no_occasion_for_what_holds_when_it_is_changed() -> None:
    made = gate()
    looking = ask(made, act("Let me see the file.", "crates/ledger/src/lib.rs", "     1\tuse std::io;"))
    editing = ask(made, act("I'll clean this up.", "crates/ledger/src/lib.rs\nfn a() {}\nfn b() {}", "updated"))
    assert "freeze" not in looking or not looking["freeze"].passes
    assert editing["freeze"].passes


def test_ordinary_output_counts_through_its_literals_only() -> None:
    made = gate()
    talk = "run the tests do the tests pass draw a chart clean up the ledger crate"
    assert not any(each.passes for each in ask(made, act("Done.", "./deploy.sh", talk)).values())
    assert ask(made, act("It stops.", "./deploy.sh", "error: LOOM_ENV is not set"))["tests"].chance > 0.1


def test_a_dropped_fact_is_never_decided_on_again() -> None:
    made = gate()
    assert "tests" in ask(made, person("run the tests"))
    made.cards.drop(OWNER, SCOPE, "tests")
    assert "tests" not in ask(made, person("run the tests"))
    assert "just ci" not in repr([vars(scope) for scope in made.cards._scopes.values()])


def test_another_owner_and_another_scope_are_never_told() -> None:
    made = gate()
    assert made.judge(person("run the tests"), owner="eve") == []
    assert made.judge(person("run the tests"), scopes=("project/other", "user")) == []


def test_the_newest_card_of_a_fact_is_the_one_that_counts() -> None:
    made = gate()
    made.cards.put(
        OWNER, SCOPE, Subject("tests", "user/tests", "feedback", "Say hello.", TriggerCard(say=("Greet me.",)))
    )
    decisions = ask(made, act("Now.", "cargo test"))
    assert "tests" not in decisions


def test_equal_requests_get_equal_answers() -> None:
    cues = act("Now I'll run the tests.", "cargo test")
    assert gate().judge(cues) == gate().judge(cues)


def test_a_repeated_request_is_no_earlier_step_of_itself() -> None:
    made = gate()
    cues = person("I want to run the tests")
    first = made.judge(cues)
    assert made.judge(cues) == first


def test_what_use_has_taught_moves_one_fact_only() -> None:
    cues = person("run the tests, then draw a chart")
    plain = ask(gate(), cues)
    taught = ask(Asked(offsets={"tests": -9.0}), cues)
    assert not taught["tests"].passes
    assert taught["palette"] == plain["palette"]


def test_more_evidence_never_lowers_a_chance() -> None:
    """Weights are never negative, so each sign pulls one way: what makes decisions explainable."""
    chance = random.Random(3)
    entry = ScopeCards([TESTS]).entries["tests"]
    assert all(weight >= 0 for weight in MODEL.weights.values())
    for _ in range(100):
        signs = {name: Sign(chance.random()) for name in (*FOR, *AGAINST)}
        name = chance.choice((*FOR, *AGAINST))
        more = {**signs, name: Sign(1.0)}
        moved = MODEL.logit(Candidate(entry, more)) - MODEL.logit(Candidate(entry, signs))
        assert moved <= 0 if name in AGAINST else moved >= 0


def test_everything_that_grows_has_a_bound() -> None:
    made = gate()
    for number in range(MAX_SESSIONS + 10):
        made.judge(person("hello there"), str(number))
    assert len(made.gate._sessions) == MAX_SESSIONS
    many = gate(*(Subject(f"f{at}", f"user/f{at}", "user", "Run the tests before lunch.") for at in range(50)))
    assert len(ask(many, person("run the tests"))) == MAX_CANDIDATES


def test_a_hostile_text_does_not_stop_the_gate() -> None:
    made = gate()
    for text in ("", "\x00\ud800", "a" * 200_000, "``` " * 5_000, "/" * 50_000, "! " * 20_000, "İ\u0130" * 999):
        made.judge([Cue(source, text) for source in CueSource])


def test_among_thousands_of_facts_the_one_that_is_named_is_still_a_candidate() -> None:
    """The shortlist is by literals and shared words; common words of many facts must not push a rare literal out."""
    made = gate()
    for number in range(2_000):
        made.cards.put(
            OWNER, SCOPE, Subject(str(number), f"user/f{number}", "user", "Run the build, then deploy the service.")
        )
    decisions = ask(made, act("Now I run the build and deploy the service.", "cargo test"))
    assert "tests" in decisions


def test_a_step_that_departs_from_a_fact_gets_it_although_an_earlier_one_followed_it() -> None:
    made = gate()
    ask(made, act("Running it.", "just ci"))
    decision = ask(made, act("Now I'll run the tests of this crate.", "cargo test -p loom"))["tests"]
    assert decision.passes
    assert "already follows" not in decision.reason
