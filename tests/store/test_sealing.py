"""What leaves the database sealed is readable by nobody else, and a changed byte is noticed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shared_core.errors import StoreDamaged
from shared_core.store.sealing import is_sealed, opened, seal

SECRET = bytes(range(32))


@given(st.binary(max_size=2000))
def test_e4_what_was_sealed_is_opened(data: bytes) -> None:
    sealed = seal(data, SECRET, "archive")
    assert is_sealed(sealed)
    assert opened(sealed, SECRET, "archive") == data
    assert len(data) < 8 or data not in sealed[29:]  # past the mark and the nonce


def test_e4_the_same_bytes_never_look_the_same_twice() -> None:
    assert seal(b"tea", SECRET, "vault") != seal(b"tea", SECRET, "vault")


@pytest.mark.parametrize(("secret", "purpose"), [(bytes(32), "archive"), (SECRET, "vault")])
def test_e4_another_secret_or_purpose_opens_nothing(secret: bytes, purpose: str) -> None:
    with pytest.raises(StoreDamaged):
        opened(seal(b"tea", SECRET, "archive"), secret, purpose)


@given(st.integers(min_value=17))
def test_e4_any_changed_byte_is_noticed(place: int) -> None:
    sealed = bytearray(seal(b"green tea", SECRET, "archive"))
    sealed[17 + place % (len(sealed) - 17)] ^= 1
    with pytest.raises(StoreDamaged):
        opened(bytes(sealed), SECRET, "archive")


def test_e4_a_cut_off_seal_is_damage_too() -> None:
    sealed = seal(b"green tea", SECRET, "archive")
    for length in range(17, len(sealed)):
        with pytest.raises(StoreDamaged):
            opened(sealed[:length], SECRET, "archive")
