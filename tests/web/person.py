"""A person's browser without the browser: cookies, forms with their tokens, and the headers of a page of ours."""

import re
from dataclasses import dataclass
from html import unescape

from tests.web.running import Running


@dataclass
class Seen:
    """An answer."""

    status: int
    headers: dict[str, str]
    text: str

    def token(self, action: str) -> str:
        """The token of the first form for `action`."""
        form = re.search(rf'<form[^>]*action="{re.escape(action)}".*?</form>', self.text, re.DOTALL)
        assert form, f"no form for {action}"
        found = re.search(r'name="token" value="([0-9a-f]+)"', form[0])
        assert found
        return found[1]

    def value(self, name: str) -> str:
        """The value of the first hidden field of that name."""
        found = re.search(rf'name="{name}" value="([^"]*)"', self.text)
        assert found, f"no field {name}"
        return unescape(found[1])


@dataclass
class Person:
    """One browser that is in."""

    page: Running
    cookie: str

    @classmethod
    async def come_in(cls, page: Running) -> "Person":
        """By a launch link."""
        async with page.http.get(await page.link()) as answer:
            assert answer.status == 200
            return cls(page, answer.headers["Set-Cookie"].partition(";")[0])

    async def see(self, path: str, **headers: str) -> Seen:
        """A page."""
        sent = {"Cookie": self.cookie, "Sec-Fetch-Site": "none", "Sec-Fetch-Mode": "navigate"} | headers
        async with self.page.http.get(self.page.url + path, headers=sent) as answer:
            return Seen(answer.status, dict(answer.headers), await answer.text())

    async def send(self, action: str, fields: list[tuple[str, str]], **headers: str) -> Seen:
        """A form, with its redirect not followed."""
        sent = {"Cookie": self.cookie, "Origin": self.page.url, "Sec-Fetch-Site": "same-origin"} | headers
        where = self.page.url + action
        async with self.page.http.post(where, data=fields, headers=sent, allow_redirects=False) as answer:
            return Seen(answer.status, dict(answer.headers), await answer.text())

    async def fill(self, path: str, action: str, **fields: str) -> Seen:
        """Open a page, fill in its form for `action`, send it."""
        seen = await self.see(path)
        return await self.send(action, [("token", seen.token(action)), *fields.items()])
