"""The vault: sealed facts are encrypted on disk, opened by the identity alone, and told by name only (I12)."""

import pytest

from bead import age
from bead.clients.vault import VaultClient
from bead.errors import (
    BadRequest,
    Exists,
    HoldsCredential,
    NotAllowed,
    NotFound,
    NoVault,
    Refused,
    Sealed,
)
from bead.facts import Sensitivity, Status, TriggerCard, Trust
from bead.home import Home
from bead.turns import Role
from bead.wire.store import AppendTurn, ConfirmForget, ForgetKeys, Mark, Rekey, Verb, WriteAnswer
from bead.wire.vault import NewRecipient, NewVault, OpenVersion, Seal, Unseal
from bead_store.home import prepare
from tests.bytescan import traces
from tests.contract.store.opening import Open, on_socket, opened, write_by_hand

IDENTITY, OTHER = age.Identity(bytes(range(32))), age.Identity(bytes(32))
NEW = NewVault(recipient=str(IDENTITY.recipient()), identity=b"an identity under a passphrase")
KEY = "user/door-code"
OLD_SECRET, SECRET = "The Wolfsrachen door opens with 4711.", "The Xylophonist-Ämter door opens with 0815."
WORDS = ("Wolfsrachen", "Xylophonist-Ämter", "4711", "0815")


async def begun(store: Open) -> VaultClient:
    vault = VaultClient(store.bus)
    await vault.create(NEW)
    return vault


async def secret(store: Open, body: str, **fields: object) -> WriteAnswer:
    return await store.write(body, KEY, sensitivity=Sensitivity.SECRET, **fields)


async def texts(vault: VaultClient, key: str = KEY, identity: age.Identity = IDENTITY) -> list[OpenVersion]:
    sealed = await vault.sealed_fact(key)
    return [
        OpenVersion(version=each.version, text=age.decrypt(each.data, [identity]).decode()) for each in sealed.versions
    ]


async def unseal(vault: VaultClient, key: str = KEY) -> int:
    return (await vault.unseal(Unseal(key=key, versions=tuple(await texts(vault, key))))).versions


async def test_nothing_is_sealed_before_there_is_a_vault(store: Open) -> None:
    vault = VaultClient(store.bus)
    await store.write(OLD_SECRET, KEY)

    assert (await vault.state()).recipient is None
    with pytest.raises(NoVault):
        await vault.seal(Seal(key=KEY))
    with pytest.raises(NoVault):
        await store.write("a code", "user/other", sensitivity=Sensitivity.SECRET)
    with pytest.raises(NoVault):
        await vault.identity()
    assert (await store.client.current_fact(KEY)).body == OLD_SECRET


async def test_an_identity_is_never_replaced(store: Open) -> None:
    vault = await begun(store)
    with pytest.raises(Exists):
        await vault.create(NewVault(recipient=str(OTHER.recipient()), identity=b"another"))

    assert (await vault.state()).recipient == NEW.recipient
    assert await vault.identity() == NEW.identity


async def test_a_recipient_that_is_none_begins_no_vault(store: Open) -> None:
    vault = VaultClient(store.bus)
    with pytest.raises(Refused):
        await vault.create(NewVault(recipient="age1pq1qqqq", identity=b"x"))
    assert not (await vault.state()).has_identity


async def test_a_lost_recipient_comes_back_and_no_other_takes_its_place(store: Open) -> None:
    vault = await begun(store)
    (store.home.root / "vault/recipient.txt").unlink()
    with pytest.raises(NoVault):
        await secret(store, SECRET)
    with pytest.raises(Exists):
        await vault.create(NEW)

    await vault.restore_recipient(NewRecipient(recipient=NEW.recipient))
    with pytest.raises(Exists):
        await vault.restore_recipient(NewRecipient(recipient=str(OTHER.recipient())))
    assert (await secret(store, SECRET)).verb is Verb.CREATED


async def test_a_secret_is_kept_under_the_next_number_and_only_the_identity_reads_it(store: Open) -> None:
    vault = await begun(store)

    first, second = await secret(store, OLD_SECRET), await secret(store, SECRET)

    assert [(answer.verb, answer.version, answer.replaced) for answer in (first, second)] == [
        (Verb.CREATED, 1, None),
        (Verb.SUPERSEDED, 2, None),
    ]
    old, new = await texts(vault)
    assert OLD_SECRET in old.text and SECRET in new.text and "sensitivity: secret" in new.text
    with pytest.raises(age.NoIdentityMatched):
        await texts(vault, identity=OTHER)


async def test_no_file_of_the_home_holds_a_sealed_text(store: Open) -> None:
    vault = await begun(store)
    await store.write(OLD_SECRET, KEY)
    turn = AppendTurn(session="s", turn_id="t", role=Role.USER, text=f"note: {OLD_SECRET}", at="2026-11-05T09:12:00Z")
    await store.client.append_turn(turn)
    await store.write("wait, it is 4712", KEY, trust=Trust.AGENT_OBSERVED)
    assert traces(store.home.root, "Wolfsrachen") != []

    await secret(store, SECRET, when=TriggerCard(say=("0815",)))

    assert [trace for word in WORDS for trace in traces(store.home.root, word)] == []
    assert [len(each.text) > 0 for each in await texts(vault)] == [True, True]
    assert [turn.text for turn in (await store.client.session("s")).turns] == ["[forgotten]"]


async def test_a_seal_takes_the_whole_history_and_says_what_it_has_done(store: Open) -> None:
    vault = await begun(store)
    await store.write(OLD_SECRET, KEY)
    await store.write(SECRET, KEY)

    answer = await vault.seal(Seal(key=KEY))

    assert (answer.key, answer.versions, answer.left) == (KEY, 2, ())
    assert [each.key for each in (await vault.sealed()).sealed] == [KEY]
    assert [OLD_SECRET in each.text for each in await texts(vault)] == [True, False]
    with pytest.raises(Sealed):
        await vault.seal(Seal(key=KEY))
    with pytest.raises(NotFound):
        await vault.seal(Seal(key="user/nothing"))


async def test_a_seal_names_the_other_facts_that_say_it_too(local: Open) -> None:
    assert local.home.root.exists()
    vault = await begun(local)
    await local.write(SECRET, KEY)
    await local.write(f"Remember: {SECRET}", "user/other")

    answer = await vault.seal(Seal(key=KEY))

    assert len(answer.left) == 1 and "user/other" in answer.left[0]


async def test_a_plain_file_that_somebody_puts_under_a_sealed_key_is_named(local: Open) -> None:
    await begun(local)
    await secret(local, SECRET)
    path = write_by_hand(local.home, KEY, 1, f"---\nkey: {KEY}\ntype: user\n---\nin the clear\n")

    assert [damage.path for damage in (await local.client.damage()).files] == [str(path)]
    with pytest.raises(Sealed):
        await local.client.current_fact(KEY)


async def test_a_sealed_text_can_be_stated_elsewhere_for_nothing_was_forgotten(store: Open) -> None:
    vault = await begun(store)
    await store.write(SECRET, KEY)
    await vault.seal(Seal(key=KEY))

    written = await store.write(SECRET, "user/other", trust=Trust.AGENT_OBSERVED)

    assert written.verb is Verb.CREATED


async def test_a_plain_write_to_a_sealed_key_is_refused_as_such(store: Open) -> None:
    await begun(store)
    await secret(store, SECRET)
    for trust in Trust:
        with pytest.raises(Sealed):
            await store.write("in the clear", KEY, trust=trust)
    with pytest.raises(Sealed):
        await store.client.rekey(Rekey(old=(await store.write("x", "user/x")).key, new=KEY))


async def test_a_sealed_fact_is_told_by_name_and_versions_only(store: Open) -> None:
    await begun(store)
    await secret(store, SECRET)

    for ask in (store.client.current_fact, store.client.history):
        with pytest.raises(Sealed) as caught:
            await ask(KEY)
        assert (caught.value.facts["key"], caught.value.facts["versions"]) == (KEY, [1])
        assert "0815" not in f"{caught.value.message}{caught.value.facts}"
    assert (await store.client.list_facts()).facts == ()
    assert (await store.client.manifest()).entries == ()
    with pytest.raises(Refused):
        await store.client.mark(Mark(key=KEY, pinned=True))


async def test_only_the_person_puts_something_into_the_vault_and_under_a_key(store: Open) -> None:
    await begun(store)
    with pytest.raises(NotAllowed):
        await secret(store, SECRET, trust=Trust.AGENT_OBSERVED)
    with pytest.raises(BadRequest):
        await store.write(SECRET, None, sensitivity=Sensitivity.SECRET)


async def test_an_unsealed_fact_is_what_it_was_and_private(store: Open) -> None:
    vault = await begun(store)
    await store.write(OLD_SECRET, KEY, when=TriggerCard(say=("the door",)))
    uid = (await store.write(SECRET, KEY)).uid
    await vault.seal(Seal(key=KEY))
    await secret(store, "The door is bricked up.")

    assert await unseal(vault) == 3

    versions = (await store.client.history(KEY)).versions
    assert [fact.body for fact in versions] == [OLD_SECRET, SECRET, "The door is bricked up."]
    assert [fact.status for fact in versions] == [Status.SUPERSEDED, Status.SUPERSEDED, Status.CURRENT]
    assert {fact.sensitivity for fact in versions} == {Sensitivity.PRIVATE} and {fact.uid for fact in versions} == {uid}
    assert versions[0].when.say == ("the door",)
    assert (await vault.sealed()).sealed == ()
    assert (await store.write("The door is back.", KEY)).version == 4


async def test_an_unseal_with_other_versions_than_the_sealed_ones_changes_nothing(store: Open) -> None:
    vault = await begun(store)
    await secret(store, OLD_SECRET)
    await secret(store, SECRET)
    found = tuple(await texts(vault))

    for wrong in (found[:1], found[::-1], (*found, OpenVersion(version=3, text="x"))):
        with pytest.raises(BadRequest):
            await vault.unseal(Unseal(key=KEY, versions=wrong))
    with pytest.raises(NotFound):
        await vault.unseal(Unseal(key="user/other", versions=found))
    assert [each.versions for each in (await vault.sealed()).sealed] == [(1, 2)]


async def test_a_credential_is_sealed_and_stays_in_the_vault(store: Open) -> None:
    vault = await begun(store)
    credential = "ghp_" + "aB3dE6gH9jK2mN5pQ8rT1vW4xY7zC0fL3sD6"
    await secret(store, f"token: {credential}")

    with pytest.raises(HoldsCredential):
        await unseal(vault)
    assert [each.versions for each in (await vault.sealed()).sealed] == [(1,)]


async def test_a_sealed_fact_moves_with_its_history_and_is_unsealed_under_its_new_key(store: Open) -> None:
    vault = await begun(store)
    await secret(store, OLD_SECRET)
    await secret(store, SECRET)

    moved = await store.client.rekey(Rekey(old=KEY, new="user/gate"))

    assert (moved.key, moved.versions) == ("user/gate", 2)
    assert [each.key for each in (await vault.sealed()).sealed] == ["user/gate"]
    assert (await store.write("free again", KEY)).verb is Verb.CREATED
    assert await unseal(vault, "user/gate") == 2
    versions = (await store.client.history("user/gate")).versions
    assert [(fact.key, fact.body) for fact in versions] == [("user/gate", OLD_SECRET), ("user/gate", SECRET)]
    assert len({fact.uid for fact in versions}) == 1


async def test_forgetting_a_sealed_key_removes_its_files_and_no_neighbour(store: Open) -> None:
    vault = await begun(store)
    await secret(store, SECRET)
    await store.write("beside", f"{KEY}-2", sensitivity=Sensitivity.SECRET)
    await store.write("below", f"{KEY}/back", sensitivity=Sensitivity.SECRET)

    preview = await store.client.preview_forget(ForgetKeys(keys=(KEY,)))
    assert [(hit.key, hit.versions) for hit in preview.hits] == [(KEY, 1)]
    receipt = await store.client.forget(ConfirmForget(keys=(KEY,), confirm=preview.confirm or ""))

    assert receipt.forgot == (KEY,)
    assert list((store.home.sealed / KEY).glob("*.age")) == []
    assert [each.key for each in (await vault.sealed()).sealed] == [f"{KEY}-2", f"{KEY}/back"]
    assert (await secret(store, SECRET)).version == 1


async def test_what_is_sealed_is_known_after_a_restart(home: Home) -> None:
    async with opened(home) as store:
        await begun(store)
        await secret(store, SECRET)
    half = home.sealed / KEY / ".tmp-0"
    half.write_bytes(b"half")

    async with opened(home) as store:
        assert [(each.key, each.versions) for each in (await VaultClient(store.bus).sealed()).sealed] == [(KEY, (1,))]
        assert not half.exists()


async def test_no_service_but_the_persons_door_reaches_the_vault(local: Open) -> None:
    ready = prepare(local.home)
    for scope in ("proxy", "index", "dream", "scheduler"):
        async with on_socket(local.service, ready.bus_secret, scope) as bus:
            vault = VaultClient(bus)
            for ask in (vault.state, vault.identity, vault.sealed):
                with pytest.raises(NotAllowed):
                    await ask()
