"""The subjects that come with the server, and what it knows of its users."""

import asyncio
import re
from uuid import UUID, uuid4

import pytest

from server.store.records import Profile, Subject
from server.store.store import Store


def subjects(url: str, langue: str) -> list[Subject]:
    async def read() -> list[Subject]:
        async with Store(url) as store:
            found = await store.subjects.list(mode="EO", tache=2, langue=langue)
            assert await store.subjects.list(mode="EE", tache=2, langue=langue) == []
            assert await store.subjects.list(mode="EO", tache=3, langue=langue) == []
            assert [await store.subjects.get(subject.id) for subject in found] == found
            assert await store.subjects.get(uuid4()) is None
        return found

    return asyncio.run(read())


@pytest.mark.parametrize("langue", ["fr", "en"])
def test_a_dozen_subjects_in_each_language(url: str, langue: str) -> None:
    """Twelve situations, each with a role, an instruction, and facts enough to answer a candidate's questions."""
    found = subjects(url, langue)
    assert len({subject.titre for subject in found}) == 12
    for subject in found:
        assert subject.langue == langue
        assert 3 <= len(subject.role.split()) <= 12
        assert 25 <= len(subject.consigne.split()) <= 60
        assert len(subject.contexte.split()) >= 90
        assert len(re.findall(r"[.;:] ", subject.contexte)) >= 8


@pytest.mark.parametrize("langue", ["fr", "en"])
def test_facts_are_whole_sentences_without_a_question(url: str, langue: str) -> None:
    """The examiner of task 2 asks nothing, so its facts hold no question; texts have no stray line breaks."""
    for subject in subjects(url, langue):
        assert "?" not in subject.contexte
        assert subject.contexte.endswith(".")
        assert not re.search(r"[\n\r]|  ", subject.contexte + subject.consigne)


def test_subjects_have_fixed_ids(url: str) -> None:
    """A client may keep an id: it is the same on every server."""
    assert UUID("5d0c6f0e-6b0e-4c8e-9a53-0f4f7c1d2a01") in {subject.id for subject in subjects(url, "fr")}


def test_a_profile_is_stored_over_the_one_before(url: str) -> None:
    """There is one profile a user; the plan is the server's word, and may be none."""

    async def story() -> tuple[Profile | None, str | None, str | None, str | None]:
        async with Store(url) as store:
            unknown = await store.profiles.plan_of("u1")
            await store.profiles.upsert("u1", plan="premium", nclc_cible=None)
            first = await store.profiles.plan_of("u1")
            await asyncio.gather(*(store.profiles.upsert("u2", plan="basic", nclc_cible=n) for n in range(8)))
            await store.profiles.upsert("u1", plan=None, nclc_cible=7)
            return await store.profiles.get("u1"), unknown, first, await store.profiles.plan_of("u1")

    profile, unknown, first, last = asyncio.run(story())
    assert (unknown, first, last) == (None, "premium", None)
    assert profile is not None
    assert (profile.id, profile.nclc_cible) == ("u1", 7)
