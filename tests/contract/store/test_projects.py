"""Project identity: one project however its folder is reached, with a readable name and a person's comments kept."""

import asyncio
from contextlib import suppress

import pytest

from bead.errors import BadRequest, DamagedFile, NotFound
from bead.facts import FactVersion
from bead.home import Home
from bead.wire.store import Project, ResolveProject
from bead_store.projects import MAX_IDENTITIES
from tests.contract.store.opening import Open, opened

SHOP = "remote:host.example/acme/shop"


async def resolve(
    store: Open, directory: str | None = None, identity: str | None = None, name: str | None = None
) -> Project | None:
    return await store.client.resolve_project(ResolveProject(directory=directory, identity=identity, name=name))


async def test_identity_gets_a_readable_name_and_keeps_it(store: Open) -> None:
    first = await resolve(store, "/work/shop", SHOP, "Shop")
    again = await resolve(store, "/elsewhere/checkout", SHOP)

    assert first == again == Project(name="shop", identity=SHOP)


async def test_taken_name_gets_a_suffix(store: Open) -> None:
    await resolve(store, identity=SHOP)

    other = await resolve(store, identity="remote:host.example/other/shop")
    third = await resolve(store, identity="remote:host.example/third/shop")

    assert [project.name for project in (other, third) if project] == ["shop-2", "shop-3"]


async def test_known_directory_and_what_is_below_it_need_no_identity(store: Open) -> None:
    await resolve(store, "/work/shop", SHOP)

    expected = Project(name="shop", identity=SHOP)
    assert await resolve(store, "/work/shop/") == expected
    assert await resolve(store, "/work/shop/api/src") == expected
    assert await resolve(store, "/work/shop-two") != expected


async def test_nearest_known_directory_wins(store: Open) -> None:
    await resolve(store, "/work/shop", SHOP)
    await resolve(store, "/work/shop/vendor/lib", "remote:host.example/acme/lib")

    assert await resolve(store, "/work/shop/vendor/lib/src") == Project(
        name="lib", identity="remote:host.example/acme/lib"
    )


async def test_unknown_directory_is_a_project_by_its_path_and_of_that_path_only(store: Open) -> None:
    project = await resolve(store, "/work/notes")

    assert project == Project(name="notes", identity="path:/work/notes")
    assert await resolve(store, "/work/notes/sub") == Project(name="sub", identity="path:/work/notes/sub")


async def test_directory_known_by_path_keeps_its_name_when_its_identity_is_learnt(store: Open) -> None:
    before = await resolve(store, "/work/notes")

    after = await resolve(store, "/work/notes", "remote:host.example/me/zettel")

    assert before and after and (after.name, after.identity) == (before.name, "remote:host.example/me/zettel")
    assert await resolve(store, "/work/notes/sub") == after


async def seen(store: Open, directory: str, *ids: str) -> Project:
    request = ResolveProject(directory=directory, identities=ids, name="shop")
    project = await store.client.resolve_project(request)
    assert project is not None
    return project


async def test_remote_that_is_added_or_changed_belongs_to_the_same_project(store: Open) -> None:
    ids = ["root:c0ffee", "path:/work/shop"]
    before = await seen(store, "/work/shop", *ids)

    after = await seen(store, "/work/shop", SHOP, *ids)
    moved = await seen(store, "/work/shop/api", "remote:other.example/acme/shop", *ids)

    assert before == Project(name="shop", identity="root:c0ffee")
    assert after == moved == Project(name="shop", identity=SHOP)
    assert await seen(store, "/elsewhere", "remote:other.example/acme/shop", "path:/elsewhere") == after


async def test_fork_and_another_repository_at_the_same_place_are_projects_of_their_own(store: Open) -> None:
    first = await seen(store, "/work/shop", SHOP, "root:c0ffee", "path:/work/shop")

    fork = await seen(store, "/work/fork", "remote:host.example/me/shop", "root:c0ffee", "path:/work/fork")
    other = await seen(store, "/work/shop", "remote:host.example/other/shop", "root:decaf", "path:/work/shop")

    assert len({first.name, fork.name, other.name}) == 3
    assert await seen(store, "/work/shop", "path:/work/shop") == other
    assert await seen(store, "/again", SHOP, "root:c0ffee", "path:/again") == first


async def test_identities_survive_a_restart_and_older_tables_are_read(home: Home) -> None:
    home.projects.parent.mkdir(parents=True)
    home.projects.write_text(f"projects:\n- name: shop  # mine\n  identity: {SHOP}\n  directories: [/work/shop]\n")
    async with opened(home) as store:
        known = await seen(store, "/work/shop", SHOP, "root:c0ffee", "path:/work/shop")
    async with opened(home) as store:
        assert await seen(store, "/elsewhere", "root:c0ffee", "path:/elsewhere") == known
    assert known == Project(name="shop", identity=SHOP)
    assert "# mine" in home.projects.read_text()


async def test_identities_of_a_project_are_bounded_and_the_first_one_stays(home: Home) -> None:
    async with opened(home) as store:
        for number in range(MAX_IDENTITIES + 5):
            await seen(store, f"/work/{number}", SHOP, "root:c0ffee", f"path:/work/{number}")
        last = await seen(store, "/elsewhere", f"path:/work/{MAX_IDENTITIES + 4}")
    assert last == Project(name="shop", identity=SHOP)
    assert home.projects.read_text().count("path:") <= MAX_IDENTITIES


@pytest.mark.parametrize("directory", ["/", "/home/somebody", "/Users/somebody/", "/root"])
async def test_root_and_homes_have_no_project(local: Open, directory: str) -> None:
    assert await resolve(local, directory) is None
    assert not local.home.projects.exists()


@pytest.mark.parametrize(
    ("directory", "identity"), [(None, None), ("relative/path", None), ("/a\nb", None), (None, "remote:a\nb")]
)
async def test_what_names_no_place_is_refused(local: Open, directory: str | None, identity: str | None) -> None:
    with pytest.raises(BadRequest):
        await resolve(local, directory, identity)


async def test_table_survives_a_restart(home: Home) -> None:
    async with opened(home) as store:
        await resolve(store, "/work/shop", SHOP)
    async with opened(home) as store:
        assert await resolve(store, "/work/shop/api") == Project(name="shop", identity=SHOP)


async def test_fact_carries_the_identity_of_its_project(store: Open) -> None:
    await resolve(store, identity=SHOP)

    await store.write("We deploy on Tuesdays", "project/shop/deploy-day")

    fact: FactVersion = await store.client.current_fact("project/shop/deploy-day")
    assert fact.project_id == SHOP


async def test_edit_by_hand_is_seen_and_its_comments_survive(store: Open) -> None:
    await resolve(store, "/work/shop", SHOP)
    table = store.home.projects
    table.write_text("# mine\n" + table.read_text().replace("name: shop", "name: webshop  # renamed"))

    assert await resolve(store, "/work/shop") == Project(name="webshop", identity=SHOP)
    await resolve(store, "/work/other", "remote:host.example/acme/other")

    assert "# mine\n" in table.read_text()
    assert "name: webshop  # renamed" in table.read_text()


async def test_damaged_table_is_named_left_alone_and_does_not_stop_the_start(home: Home) -> None:
    async with opened(home) as store:
        await resolve(store, "/work/shop", SHOP)
    home.projects.write_text("projects: [\n")
    async with opened(home) as store:
        with pytest.raises(DamagedFile):
            await resolve(store, "/work/shop")
        await store.write("facts still work")
        assert [file.path for file in (await store.client.damage()).files] == [str(home.projects)]
        home.projects.write_text("projects: []\n")
        assert await resolve(store, "/work/shop", SHOP) is not None


async def settled(store: Open, key: str) -> FactVersion:
    """The fact, as soon as it is there: what moves facts works behind the answer."""
    async with asyncio.timeout(10):
        seq, epoch = 0, ""
        while True:
            with suppress(NotFound):
                return await store.client.current_fact(key)
            page = await store.client.changes(epoch, seq, wait_s=5)
            epoch, seq = page.epoch, page.seq


async def test_facts_of_a_folder_go_to_the_project_it_turns_out_to_belong_to(home: Home) -> None:
    async with opened(home) as store:
        await resolve(store, "/work/shop", SHOP)
        assert await resolve(store, "/srv/checkout") == Project(name="checkout", identity="path:/srv/checkout")
        await store.write("Tuesday", key="project/checkout/deploy-day")
        await store.write("Wednesday", key="project/checkout/deploy-day")
        await store.write("pnpm", key="project/checkout/tool")
        await store.write("npm", key="project/shop/tool")

        assert await resolve(store, "/srv/checkout", SHOP) == Project(name="shop", identity=SHOP)

        moved = await settled(store, "project/shop/deploy-day")
        assert (moved.body, moved.version, moved.project_id) == ("Wednesday", 2, SHOP)
        assert (await settled(store, "project/shop/tool-2")).body == "pnpm"
        assert (await store.client.current_fact("project/shop/tool")).body == "npm"
        assert await resolve(store, "/srv/checkout/api") == Project(name="shop", identity=SHOP)
        async with asyncio.timeout(10):
            while "moves_to" in home.projects.read_text():  # noqa: ASYNC110 -- the file is all that tells
                await asyncio.sleep(0)
    assert not list((home.facts / "project" / "checkout").rglob("*.md"))


async def test_a_move_that_a_kill_interrupted_is_ended_by_the_next_start(home: Home) -> None:
    async with opened(home) as store:
        await resolve(store, "/work/shop", SHOP)
        await resolve(store, "/srv/checkout")
        await store.write("Tuesday", key="project/checkout/deploy-day")
    text = home.projects.read_text().replace("- name: checkout\n", "- name: checkout\n  moves_to: shop\n")
    home.projects.write_text(text)

    async with opened(home) as store:
        assert (await settled(store, "project/shop/deploy-day")).body == "Tuesday"


async def test_a_folder_of_its_own_that_becomes_a_repository_keeps_its_name_and_moves_nothing(home: Home) -> None:
    async with opened(home) as store:
        await resolve(store, "/srv/checkout")
        await store.write("Tuesday", key="project/checkout/deploy-day")
        await resolve(store, "/srv/checkout", SHOP)
        assert (await store.client.current_fact("project/checkout/deploy-day")).body == "Tuesday"
    assert "moves_to" not in home.projects.read_text()
