"""The admin page in a real browser: the main flows of a person, with and without the script."""

import re

import pytest
from playwright.async_api import expect

from bead.errors import NotFound
from bead.facts import Trust
from tests.e2e.web.conftest import Desk
from tests.web.running import SESSION, trace

pytestmark = pytest.mark.e2e

PAGES = (
    "/",
    "/live",
    "/facts",
    "/fact/project/shop/release",
    "/review",
    "/sessions",
    f"/sessions/{SESSION}",
    "/reports",
    "/audit?verify=1",
    "/traces",
    f"/traces/{SESSION}/turn-3",
    "/spend",
    "/settings",
)


async def test_a_launch_link_is_used_up_by_its_first_use(desk: Desk) -> None:
    link = await desk.page.link()
    first, second = await desk.browser.new_page(), await desk.browser.new_page()
    await first.goto(link)
    await first.wait_for_url(f"{desk.page.url}/")
    await expect(first.get_by_role("heading", level=1)).to_have_text("Today")
    await second.goto(link)
    await expect(second.get_by_role("heading", level=1)).to_have_text("Link expired")


async def test_search_as_you_type_edit_and_pin(desk: Desk) -> None:
    async with desk.person() as person:
        tab = person.tab
        await tab.goto(f"{desk.page.url}/facts")
        await tab.keyboard.press("/")
        await tab.keyboard.type("staging data")
        await expect(tab.locator(".row")).to_have_count(1)
        await expect(tab).to_have_url(re.compile(r"q=staging(\+|%20)data"))
        await tab.locator(".row").click()
        await tab.locator("#edit > summary").click()
        await tab.get_by_label("Text: becomes").fill("The staging database listens on 5434.")
        await tab.get_by_role("button", name="Save").click()
        await expect(tab.get_by_role("status")).to_have_text("Saved as version 2.")
        await expect(tab.locator(".history ins").first).to_have_text("5434")
        await tab.get_by_role("button", name="Pin", exact=True).click()
        await expect(tab.get_by_role("button", name="Unpin")).to_be_visible()
    fact = await desk.page.store.current_fact("project/shop/database")
    assert (fact.body, fact.trust, fact.pinned) == (
        "The staging database listens on 5434.",
        Trust.USER_STATED,
        True,
    )


async def test_forget_with_preview(desk: Desk) -> None:
    async with desk.person() as person:
        tab = person.tab
        await tab.goto(f"{desk.page.url}/fact/project/shop/release")
        await tab.get_by_role("button", name="Forget…").click()
        await expect(tab.get_by_role("heading", level=1)).to_have_text("Forget this for good?")
        await tab.get_by_role("link", name="Keep it").click()
        await expect(tab).to_have_url(f"{desk.page.url}/fact/project/shop/release")
        await tab.get_by_role("button", name="Forget…").click()
        await tab.get_by_role("button", name="Forget 1 fact").click()
        await expect(tab.get_by_role("heading", level=1)).to_have_text("Forgotten")
    with pytest.raises(NotFound):
        await desk.page.store.current_fact("project/shop/release")


async def test_review_by_keyboard(desk: Desk) -> None:
    first, second = (await desk.page.store.review_queue()).items
    async with desk.person() as person:
        tab = person.tab
        await tab.goto(f"{desk.page.url}/review")
        await tab.keyboard.press("j")
        await expect(tab.locator(f"#item-{first.id}")).to_be_focused()
        await tab.keyboard.press("j")
        await expect(tab.locator(f"#item-{second.id}")).to_be_focused()
        await tab.keyboard.press("k")
        await tab.keyboard.press("a")
        await expect(tab.get_by_role("status")).to_have_text(f"Accepted: {first.key}.")
        await tab.keyboard.press("j")
        await tab.keyboard.press("e")
        await tab.keyboard.type("ar")  # into the text, where keys are letters
        await expect(tab.locator(f"#x-{second.id}")).to_be_focused()
        await tab.keyboard.press("Escape")
        await tab.locator(f"#item-{second.id} h2").click()
        await tab.keyboard.press("r")
        await expect(tab.get_by_role("status")).to_have_text(f"Rejected: {second.key}.")
    assert (await desk.page.store.current_fact(first.key)).body == first.body
    assert (await desk.page.store.review_queue()).items == ()


async def test_the_live_view_receives_a_request(desk: Desk) -> None:
    release = (await desk.page.store.current_fact("project/shop/release")).uid
    async with desk.person() as person:
        tab = person.tab
        await tab.goto(f"{desk.page.url}/live")
        await expect(tab.locator("#live-state")).to_have_text("Listening")
        await expect(tab.locator(".step")).to_have_count(2)
        await desk.page.store.keep_trace(trace(9, (), (release,), "0" * 32))
        await expect(tab.locator(".step")).to_have_count(3)
        await expect(tab.locator(".step").first.get_by_role("link").first).to_have_attribute(
            "href", f"/traces/{SESSION}/turn-9"
        )
        await tab.goto("about:blank")


async def test_a_session_opens_at_the_turn_that_a_fact_cites(desk: Desk) -> None:
    async with desk.person() as person:
        tab = person.tab
        await tab.goto(f"{desk.page.url}/fact/project/shop/release")
        await tab.get_by_role("link", name="turn 1").click()
        await expect(tab.locator("#turn-1")).to_be_in_viewport()
        await tab.get_by_text("Replay: memory in this request").last.click()
        await expect(tab.locator("#turn-3 .block").last).to_contain_text('<bead-memory kind="recall">')


async def test_every_page_works_without_the_script(desk: Desk) -> None:
    async with desk.person(has_script=False) as person:
        tab = person.tab
        for path in PAGES:
            answer = await tab.goto(desk.page.url + path)
            assert answer is not None and answer.status == 200, path
        await tab.goto(f"{desk.page.url}/facts")
        await tab.get_by_label("Search facts").fill("release")
        await tab.get_by_role("button", name="Search", exact=True).click()
        await expect(tab.locator(".row")).to_have_count(1)
        await tab.goto(f"{desk.page.url}/review")
        await tab.get_by_role("button", name="Accept", exact=True).first.click()
        await expect(tab.get_by_role("status")).to_contain_text("Accepted")


async def test_a_page_of_another_origin_can_neither_read_nor_change_anything(desk: Desk) -> None:
    """Another port of this machine is the same site to a browser, so the cookie goes with what it sends."""
    async with desk.person() as person:
        tab = await person.context.new_page()
        other = desk.page.url.replace("127.0.0.1", "localhost")  # answers, with a login page, from another origin
        await tab.goto(f"{other}/nothing")
        outcome = await tab.evaluate(
            """async (target) => {
                const form = new URLSearchParams({ body: "planted", token: "0" });
                const sent = await fetch(`${target}/remember`, { method: "POST", mode: "no-cors", body: form,
                    credentials: "include" }).then((answer) => answer.type, () => "refused");
                return sent;
            }""",
            desk.page.url,
        )
        person.complaints.clear()  # the policy of the page it was tried from said so
        person.asked.clear()
    assert outcome == "refused"
    assert "planted" not in [fact.body for fact in (await desk.page.store.list_facts()).facts]
