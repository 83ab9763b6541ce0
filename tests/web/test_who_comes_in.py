"""Who may see the admin page and who may change something through it (I16, T1 to T3)."""

import re

from yarl import URL

from bead.facts import Trust
from tests.web.person import Person
from tests.web.running import Running

FOREIGN = (
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:1"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "same-site"},
    {"Sec-Fetch-Site": "cross-site"},
)
PAGES = ("/", "/live", "/facts", "/review", "/sessions", "/reports", "/audit", "/traces", "/spend", "/settings")


async def test_a_launch_link_works_once(page: Running) -> None:
    link = await page.link()
    statuses = []
    for _ in range(2):
        async with page.http.get(link) as answer:
            statuses.append(answer.status)
    assert statuses == [200, 401]


async def test_the_cookie_is_for_this_page_alone(page: Running) -> None:
    async with page.http.get(await page.link()) as answer:
        cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie and "samesite=strict" in cookie and "domain" not in cookie


async def test_a_launch_link_is_made_with_the_admin_token_only(page: Running) -> None:
    async with page.http.post(f"{page.url}/api/curate/v1/launch") as answer:
        assert answer.status == 401


async def test_nobody_sees_a_page_without_a_session(page: Running) -> None:
    await page.write("user/editor", "helix the canary")
    for path in (*PAGES, "/fact/user/editor", "/nothing"):
        async with page.http.get(page.url + path) as answer:
            assert answer.status == 401, path
            assert "canary" not in await answer.text(), path


async def test_a_session_does_not_open_the_json_door(person: Person) -> None:
    assert (await person.see("/api/store/v1/facts")).status == 401


async def test_another_host_is_refused_on_every_path(person: Person) -> None:
    tag = re.search(r'href="(/static/[^"]+)"', (await person.see("/")).text)
    assert tag
    for path in ("/", "/login/x", tag[1], "/live/events"):
        for host in ("evil.example", "curate:7078", "127.0.0.1.nip.io"):
            assert (await person.see(path, Host=host)).status == 421, (path, host)


async def test_another_page_may_not_load_a_part_of_this_one(person: Person) -> None:
    for site in ("same-site", "cross-site"):
        loads = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "no-cors", "Sec-Fetch-Dest": "image"}
        frames = {"Sec-Fetch-Site": site, "Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "iframe"}
        assert (await person.see("/facts", **loads)).status == 403
        assert (await person.see("/facts", **frames)).status == 403
        assert (await person.see("/facts", **{**frames, "Sec-Fetch-Dest": "document"})).status == 200


async def test_a_form_of_another_page_changes_nothing(person: Person) -> None:
    token = (await person.see("/facts")).token("/remember")
    for headers in FOREIGN:
        sent = await person.send("/remember", [("token", token), ("body", "planted")], **headers)
        assert sent.status == 403, headers
    assert (await person.page.store.list_facts()).facts == ()


async def test_a_form_without_its_token_changes_nothing(person: Person) -> None:
    for token in ("", "0" * 64, "é"):
        assert (await person.send("/remember", [("token", token), ("body", "planted")])).status == 403
    assert (await person.page.store.list_facts()).facts == ()


async def test_a_token_is_for_its_own_form_and_session(person: Person) -> None:
    await person.page.write("user/editor", "helix")
    other = await Person.come_in(person.page)
    tokens = [(await person.see("/facts")).token("/remember"), (await other.see("/fact/user/editor")).token("/forget")]
    for token in tokens:
        assert (await person.send("/forget", [("token", token), ("key", "user/editor")])).status == 403


async def test_a_body_that_is_no_form_is_refused(person: Person) -> None:
    token = (await person.see("/facts")).token("/remember")
    headers = {"Content-Type": "text/plain", "Cookie": person.cookie, "Origin": person.page.url}
    async with person.page.http.post(
        f"{person.page.url}/remember", data=f"token={token}&body=planted", headers=headers
    ) as answer:
        assert answer.status == 400


async def test_every_answer_keeps_other_pages_and_caches_out(person: Person) -> None:
    for path in (*PAGES, "/login/x", "/static/0/bead.css"):
        headers = (await person.see(path)).headers
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'") and "frame-ancestors 'none'" in policy, path
        assert "unsafe" not in policy and headers["X-Content-Type-Options"] == "nosniff", path
        assert path.startswith("/static") or headers["Cache-Control"] == "no-store", path


async def test_no_page_holds_inline_code_or_an_address_elsewhere(person: Person) -> None:
    for path in PAGES:
        text = (await person.see(path)).text
        assert not re.search(r"<script(?![^>]*\bsrc=\"/static/)|<style|\sstyle=|\son[a-z]+=|javascript:", text), path
        assert set(re.findall(r"(?:href|src|action)=\"(https?:|//)", text)) == set(), path


async def test_who_logs_out_is_out(person: Person) -> None:
    left = await person.fill("/", "/logout")
    assert left.status == 200
    assert (await person.see("/")).status == 401


async def test_odd_paths_are_answered_not_broken(person: Person) -> None:
    odd = ("/fact/NOT-A-KEY", "/sessions/%00", "/static/x/../../app.py", "/facts?page=99999&type=%3Cb%3E", "/traces/x")
    for path in odd:
        async with person.page.http.get(
            URL(person.page.url + path, encoded=True), headers={"Cookie": person.cookie}
        ) as answer:
            assert answer.status in (200, 400, 404), path


async def test_what_anybody_wrote_is_text_on_every_page(person: Person) -> None:
    """A fact, a turn and a proposal that hold markup are shown as what they are."""
    bad = "<img src=x onerror=alert(1)>\"'</textarea><script>alert(2)</script>"
    source = await person.page.say(bad)
    await person.page.write("user/editor", bad, sources=(source,))
    await person.page.write("user/editor", bad + "!", trust=Trust.AGENT_OBSERVED, sources=(source,))
    for path in ("/", "/facts", "/fact/user/editor", "/review", "/sessions", source_page(source)):
        seen = await person.see(path)
        assert seen.status == 200, path
        assert "<img src=x" not in seen.text and "<script>alert" not in seen.text, path
        assert "&lt;img src=x" in seen.text, path


def source_page(source: str) -> str:
    return "/sessions/" + source.rpartition("/")[2].partition(".md")[0]
