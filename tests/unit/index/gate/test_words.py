"""Sentences into concepts."""

import pytest

from bead_index.gate.words import MAX_SENTENCES, concepts, in_english, sentences


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Run the tests", "please execute the test suite"),
        ("the pictures are broken", "an image fails"),
        ("add a dependency", "adding packages"),
        ("Führe bitte die Tests aus und prüfe die Fehler", "check the tests for errors"),
        ("Lösche die alte Tabelle, die wir nicht mehr brauchen", "delete the old table"),
        ("¿Puedes ejecutar las pruebas por favor?", "run the tests"),
        ("Supprime les fichiers que nous avons dans le dossier", "remove the files of the folder"),
        ("Você pode executar os testes para mim?", "run the tests"),
    ],
)
def test_words_for_one_thing_meet(one: str, other: str) -> None:
    shared = set(concepts(one)) & set(concepts(other))
    assert len(shared) >= min(2, len(concepts(other)))


def test_english_is_never_read_with_the_dictionary() -> None:
    text = "die in the container, so was the fault on the server"
    assert in_english(text) == text


def test_paths_and_code_are_not_translated() -> None:
    assert "datei.py" in in_english("Lösche die Datei datei.py und die Liste in src/liste/neu.py bitte nicht")


def test_a_sentence_of_function_words_is_about_nothing() -> None:
    assert concepts("and then it was so") == ()


def test_short_commands_are_kept() -> None:
    assert "sqlmock" in concepts("go get sqlmock")


def test_code_blocks_are_not_sentences_and_a_paste_is_bounded() -> None:
    assert sentences("Look:\n```\nrm -rf x.\n```\nNow.") == ["Look:", "Now."]
    assert len(sentences("One. " * 500)) == MAX_SENTENCES


@pytest.mark.parametrize(
    "text",
    [
        "No hex values in the class.",
        "Images do not load in production.",
        "Committed as 71fe on the branch.",
        "es and ca",
    ],
)
def test_words_that_are_english_as_well_do_not_make_a_sentence_foreign(text: str) -> None:
    assert in_english(text) == text
