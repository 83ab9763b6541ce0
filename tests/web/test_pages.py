"""What the pages show is what is stored, and a page comes even when a part of it cannot."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import aiohttp
import pytest

from bead.home import Home
from bead.wire.jobs import Job, JobName, JobResult, JobRun, NoteJob
from tests.web.person import Person
from tests.web.running import SESSION, Running, running, trace


async def test_search_finds_by_words_and_filters_hold(furnished: Running) -> None:
    person = await Person.come_in(furnished)
    found = await person.see("/facts?q=release&part=list")
    assert "project/shop/" in found.text and "<b>release</b>" in found.text and "licence" not in found.text
    filtered = await person.see("/facts?project=project/shop&trust=agent_observed&part=list")
    assert filtered.text.count('class="row"') == 2
    assert "<html" not in found.text


async def test_search_works_without_an_index_and_says_so(person: Person) -> None:
    await person.page.write("user/editor", "helix")
    found = await person.see("/facts?q=HELIX")
    assert "<b>editor</b>" in found.text and "search index is not there" in found.text


async def test_a_fact_shows_its_versions_sources_uses_and_card(furnished: Running) -> None:
    person = await Person.come_in(furnished)
    text = (await person.see("/fact/project/shop/release")).text
    assert "<del>deploy</del><ins>ship-it</ins>" in text
    assert f"/sessions/{SESSION}?turn=1#turn-1" in text
    assert "permission denied" in text and "recall" in text


async def test_a_session_replays_the_exact_block_of_each_request(furnished: Running) -> None:
    person = await Person.come_in(furnished)
    text = (await person.see(f"/sessions/{SESSION}")).text
    first, last = text.index("Replay: memory in this request"), text.rindex("Replay: memory in this request")
    assert "new in this request" not in text[first:last] and "new in this request" in text[last:]
    assert "&lt;bead-memory kind=&#34;recall&#34;&gt;" in text[last:]


async def test_the_live_feed_sends_a_request_as_it_passes(furnished: Running) -> None:
    person = await Person.come_in(furnished)
    page = await person.see("/live")
    last = page.text.partition('data-last="')[2].split('"')[0]
    async with furnished.http.get(
        f"{furnished.url}/live/events?after={last}", headers={"Cookie": person.cookie}
    ) as events:
        release = (await furnished.store.current_fact("project/shop/release")).uid
        await furnished.store.keep_trace(trace(9, (), (release,), "0" * 32))
        seen = b""
        while b"event: turn" not in seen or b"\n\n" not in seen.partition(b"event: turn")[2]:
            seen += await events.content.readany()
    assert b"<b>release</b>" in seen and b"turn-9" in seen


async def test_a_stream_is_for_those_who_are_in(page: Running) -> None:
    async with page.http.get(f"{page.url}/live/events") as answer:
        assert answer.status == 401


async def test_the_settings_page_tells_the_source_of_each_value(person: Person) -> None:
    text = (await person.see("/settings")).text
    assert "BEAD_INDEX__GATE" in text and "memory_timeout_ms" in text


async def test_the_jobs_are_shown_with_their_last_and_next_run(furnished: Running) -> None:
    at = datetime(2026, 11, 30, 3, 30, tzinfo=UTC)
    failed = JobRun(due=at, started=at, ended=at, result=JobResult.FAILED, message="the model was not there")
    dream = Job(name=JobName.DREAM, is_on=True, at="03:30", since=at, last=failed, next=at + timedelta(days=1))
    drain = Job(name=JobName.DRAIN, is_on=False, at="03:20", since=at)
    for job in (drain, dream):
        assert (await furnished.store.note_job(NoteJob(job=job))).is_noted
    text = (await (await Person.come_in(furnished)).see("/reports")).text
    for words in ("drain", "off", "never", "dream", "03:30", "failed", "the model was not there", "1 Dec 2026, 03:30"):
        assert words in text, words


async def test_the_audit_page_verifies_the_chain(person: Person) -> None:
    await person.page.write("user/editor", "helix")
    assert "All 1 lines hold" in (await person.see("/audit?verify=1")).text
    log = person.page.home.audit_log
    log.write_text(log.read_text() + '{"at":"2026-01-01T00:00:00Z","verb":"forged","what":"x","prev":"0"}\n')
    assert "Line 2 does not follow" in (await person.see("/audit?verify=1")).text


async def test_a_stop_ends_an_open_stream_in_good_form(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async with aiohttp.ClientSession() as session:
        async with running(Home(tmp_path / "home")) as page:
            person = await Person.come_in(page)
            events = await session.get(f"{page.url}/live/events", headers={"Cookie": person.cookie})
            assert await events.content.readline() == b"retry: 2000\n"
        assert await events.content.read() == b"\n"  # its end, not a broken connection
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
