from __future__ import annotations

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engines.models.sources import Build, Member, Package, Packed, WebFile, parse

REVISION = "0123456789abcdef0123456789abcdef01234567"
VOICES = Member(Package("npm", "voices", "1.0"), "voices/*.bin")


def test_a_hugging_face_file_is_read_at_its_revision() -> None:
    """hf:OWNER/REPO@REVISION/PATH resolves at that revision."""
    source = parse(f"hf:o/r@{REVISION}/sub/model.bin", {})
    assert isinstance(source, WebFile)
    assert (source.host, source.path) == ("hf", f"o/r/resolve/{REVISION}/sub/model.bin")


def test_a_github_name_without_slash_is_a_release_asset() -> None:
    """Release assets have no slash in their names; what has one is a file of the repository at that tag."""
    asset, file = parse("github:o/r@v1.0/a.onnx", {}), parse("github:o/r@v1.0/src/a.onnx", {})
    assert isinstance(asset, WebFile)
    assert isinstance(file, WebFile)
    assert asset.path == "o/r/releases/download/v1.0/a.onnx"
    assert file.path == "o/r/raw/v1.0/src/a.onnx"


def test_parts_keep_their_order() -> None:
    """+ joins parts in the order in which they are written."""
    source = parse("pypi:b==2/b/x.bin+a==1/a/x.bin", {})
    assert isinstance(source, Packed)
    assert [(part.package.name, part.package.version, part.path) for part in source.parts] == [
        ("b", "2", "b/x.bin"),
        ("a", "1", "a/x.bin"),
    ]
    assert str(source) == "pypi:b 2 and 1 more"


def test_an_npm_name_may_have_a_scope() -> None:
    """npm:@SCOPE/NAME@VERSION/PATH."""
    source = parse("npm:@s/n@1.2.1/voices/a.bin", {})
    assert isinstance(source, Packed)
    assert source.parts == (Member(Package("npm", "@s/n", "1.2.1"), "voices/a.bin"),)


def test_a_build_has_the_inputs_of_its_recipe() -> None:
    """build:RECIPE is read with what the lock says of the recipe."""
    assert parse("build:voices", {"voices": VOICES}) == Build("voices", VOICES)


@pytest.mark.parametrize(
    "written", ["", "hf:", "github:o/r", "pypi:a==1", "pypi:a==1/x+", "npm:a/x", "build:", "zip:a"]
)
def test_another_form_is_refused_with_the_right_one(written: str) -> None:
    """What is not one of the five forms is refused, and the error says what was expected."""
    with pytest.raises(ValueError, match=r"expected|recipe"):
        parse(written, {})


@given(st.text() | st.builds("{}:{}".format, st.sampled_from(["hf", "github", "pypi", "npm", "build"]), st.text()))
def test_any_text_is_a_source_or_a_value_error(written: str) -> None:
    """No text breaks the reader."""
    with contextlib.suppress(ValueError):
        assert isinstance(parse(written, {"voices": VOICES}), WebFile | Packed | Build)
