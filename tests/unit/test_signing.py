"""Keys: where they come from, that they are never shown, and how one hands over to the next."""

from __future__ import annotations

import base64
import copy
import json
import os
import stat
import subprocess
from collections.abc import Callable
from contextlib import nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec, ed25519
from support.warm_command import warm_python

from tiers.errors import ConfigError, IntegrityError, UsageError
from tiers.history.rotation import (
    TrustedKey,
    handed_over,
    load_key,
    rotate,
    rotations_of,
    trusted_keys,
)
from tiers.history.signing import SigningKey, key_id, public_key_of, verify

NOW = datetime(2026, 5, 14, 15, 4, tzinfo=UTC)
# The first test of RFC 8032, section 7.1.
SEED = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60"
PUBLIC = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"
SIGNATURE = (
    "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e065224901555fb8821590a33bacc61e39701cf9b46b"
    "d25bf5f0595bbe24655141438e7a100b"
)


def pem_of(
    private: ed25519.Ed25519PrivateKey | ec.EllipticCurvePrivateKey, password: str = ""
) -> str:
    """Return a private key in PEM."""
    secret = serialization.BestAvailableEncryption(password.encode()) if password else None
    return private.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        secret or serialization.NoEncryption(),
    ).decode()


def seeded() -> ed25519.Ed25519PrivateKey:
    """Return the private key of the seed."""
    return ed25519.Ed25519PrivateKey.from_private_bytes(bytes.fromhex(SEED))


def texts() -> list[str]:
    """Return every form in which a key may be given."""
    raw, pem = bytes.fromhex(SEED), pem_of(seeded())
    return [
        SEED,
        f"  {SEED.upper()}\n",
        base64.b64encode(raw).decode(),
        base64.urlsafe_b64encode(raw).decode().rstrip("="),
        pem,
        pem.replace("\n", "\\n"),
    ]


@pytest.mark.parametrize("form", range(6))
def test_a_key_is_read_in_every_form(form: int) -> None:
    """And signs as RFC 8032 says."""
    key = SigningKey.from_text(texts()[form])
    assert (key.public_hex, key.sign(b"")) == (PUBLIC, SIGNATURE)
    assert key.key_id == key_id(PUBLIC) == "21fe31dfa154a261"


@pytest.mark.parametrize(
    "text",
    [
        "",
        SEED[:-2],
        f"{SEED}00",
        f"{SEED[:-1]}g",
        base64.b64encode(bytes(33)).decode(),
        "naïve",
        "-----BEGIN PRIVATE KEY-----\nMC4CAQAwBQYDK2VwBCIEIJ1hsZ3v",
        pem_of(seeded(), "password"),
        pem_of(ec.generate_private_key(ec.SECP256R1())),
    ],
)
def test_what_is_no_key_is_refused_without_being_shown(text: str) -> None:
    """The error names the setting and what is accepted; neither it nor its causes quote a word."""
    with pytest.raises(ConfigError, match="EZRA_SIGNING_KEY: is ") as refusal:
        SigningKey.from_text(text)
    assert refusal.value.__cause__ is None
    assert len(text) < 8 or text.strip()[-12:] not in str(refusal.value)


def test_a_key_is_not_shown_and_not_copied() -> None:
    """Logs, tracebacks and pickles are not where a private key may end up."""
    key = SigningKey.from_text(SEED)
    assert repr(key) == f"SigningKey({key.key_id})"
    with pytest.raises(TypeError):
        copy.deepcopy(key)


@pytest.mark.parametrize(
    ("public", "signature", "data"),
    [
        (PUBLIC, SIGNATURE, b"x"),
        (PUBLIC, SIGNATURE.replace("e5", "e4", 1), b""),
        (PUBLIC, SIGNATURE.upper(), b""),
        (PUBLIC.upper(), SIGNATURE, b""),
        (SEED, SIGNATURE, b""),
        ("", "", b""),
        ("g" * 64, SIGNATURE, b""),
        (PUBLIC, SIGNATURE[:-2], b""),
    ],
)
def test_a_wrong_signature_is_no_error_and_no_signature(
    public: str, signature: str, data: bytes
) -> None:
    """Other data, another key, another spelling: all the same answer."""
    assert verify(PUBLIC, SIGNATURE, b"")
    assert not verify(public, signature, data)


def test_a_public_key_is_given_in_hex_or_pem_or_a_file(tmp_path: Path) -> None:
    """A private key given in its place is refused without being shown."""
    pem = (
        seeded()
        .public_key()
        .public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    )
    file = tmp_path / "ezra.pub"
    file.write_bytes(pem)
    for given in (PUBLIC, f" {PUBLIC.upper()}\n", pem.decode(), str(file)):
        assert public_key_of(given) == PUBLIC
    for wrong in ("", PUBLIC[:-1], pem_of(seeded()), str(tmp_path), "a\x00b", "x" * 10_000):
        with pytest.raises(UsageError) as refusal:
            public_key_of(wrong)
        assert len(str(refusal.value)) < 200
        assert "PRIVATE" not in str(refusal.value)


def test_a_key_file_is_made_once_and_is_its_owners(tmp_path: Path) -> None:
    """What is there is read and never overwritten."""
    path = tmp_path / "key.pem"
    key = SigningKey.generate(path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    before = path.read_bytes()
    assert {SigningKey.generate(path).public_hex, SigningKey.from_file(path).public_hex} == {
        key.public_hex
    }
    assert path.read_bytes() == before
    assert [one.name for one in tmp_path.iterdir()] == ["key.pem"]
    path.write_text("no key")
    with pytest.raises(ConfigError, match="EZRA_SIGNING_KEY_FILE"):
        SigningKey.generate(path)
    assert path.read_text() == "no key"


@pytest.mark.parametrize("mode", [0o644, 0o640, 0o604, 0o620, 0o610])
def test_a_key_file_that_others_may_touch_is_refused(tmp_path: Path, mode: int) -> None:
    """As ssh does; the error says what to do."""
    path = tmp_path / "key.pem"
    SigningKey.generate(path)
    path.chmod(mode)
    with pytest.raises(ConfigError, match=f"mode {mode:04o}.*chmod 600"):
        SigningKey.from_file(path)


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    """A folder, a pipe that would block, a folder that is not there, and what is not text."""
    os.mkfifo(tmp_path / "pipe", 0o600)
    (tmp_path / "binary").touch(0o600)
    (tmp_path / "binary").write_bytes(bytes(range(256)))
    (tmp_path / "folder").mkdir(mode=0o700)
    for name in ("folder", "pipe", "binary"):
        with pytest.raises(ConfigError, match=name):
            SigningKey.from_file(tmp_path / name)
    with pytest.raises(ConfigError, match="cannot write"):
        SigningKey.generate(tmp_path / "nowhere" / "key.pem")


def test_processes_that_make_a_key_at_once_end_with_one(tmp_path: Path) -> None:
    """Whoever comes second has the key of whoever came first."""
    program = (
        "import sys; from pathlib import Path\n"
        "from tiers.history.signing import SigningKey\n"
        "print(flush=True); sys.stdin.readline()\n"
        "print(SigningKey.generate(Path(sys.argv[1])).public_hex)\n"
    )
    path = str(tmp_path / "key.pem")
    racers = [
        subprocess.Popen(
            [warm_python(), "-c", program, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        for _ in range(3)
    ]
    for one in racers:
        assert one.stdout is not None
        one.stdout.readline()
    keys = [one.communicate("go\n", timeout=60)[0].strip() for one in racers]
    assert set(keys) == {SigningKey.from_file(Path(path)).public_hex}
    assert [one.name for one in tmp_path.iterdir()] == ["key.pem"]


def rotated(path: Path, now: datetime) -> SigningKey:
    """Rotate the key of a file, and return the key that is there now."""
    record, key = rotate(path, now), load_key(path)
    assert (record, record.to_key) == (rotations_of(path)[-1], key.public_hex)
    return key


def test_a_rotation_is_signed_by_the_old_key_which_is_gone(tmp_path: Path) -> None:
    """Whoever trusts the first key trusts the last, from then on; the old file is blanked."""
    path = tmp_path / "key.pem"
    first = SigningKey.generate(path)
    os.link(path, tmp_path / "kept")  # the old file, by another name
    second = rotated(path, NOW)
    assert not any((tmp_path / "kept").read_bytes())
    third = rotated(path, NOW - timedelta(days=1))
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert SigningKey.generate(path).public_hex == third.public_hex
    found = rotations_of(path)
    assert [(one.from_key, one.to_key) for one in found] == [
        (first.public_hex, second.public_hex),
        (second.public_hex, third.public_hex),
    ]
    assert [one.rotated_at for one in found] == [NOW, NOW]
    assert trusted_keys(first.public_hex, found) == (
        TrustedKey(first.public_hex, None, NOW),
        TrustedKey(second.public_hex, NOW, NOW),
        TrustedKey(third.public_hex, NOW, None),
    )
    assert trusted_keys(third.public_hex, found) == (TrustedKey(third.public_hex),)
    text = "".join(one.read_text() for one in tmp_path.iterdir() if one.name != "key.pem")
    assert "PRIVATE" not in text


@pytest.mark.parametrize("step", range(9))
def test_a_rotation_that_dies_leaves_one_valid_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, step: int
) -> None:
    """Wherever it dies, the chain of keys ends at the key that is used next.

    It dies before or instead of each step that makes something durable, the last of which blanks
    the old key, or not at all.
    """
    path = tmp_path / "key.pem"
    first = SigningKey.generate(path)
    left = iter(range(step, -1, -1))

    def dying(real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            if next(left, -1) == 0:
                raise KeyboardInterrupt
            return real(*given)

        return call

    monkeypatch.setattr(os, "fsync", dying(os.fsync))
    monkeypatch.setattr(Path, "replace", dying(Path.replace))
    is_last = step == 8
    with nullcontext() if is_last else pytest.raises(KeyboardInterrupt):
        rotate(path, NOW)
    monkeypatch.undo()
    key = load_key(path)
    assert (key.public_hex == first.public_hex) == (step < 4)
    for _ in range(2):
        chain = trusted_keys(first.public_hex, rotations_of(path))
        assert chain[-1].public_key == load_key(path).public_hex
        assert not (tmp_path / "key.pem.next").exists()
        rotate(path, NOW)


def test_forged_and_broken_chains_of_keys_are_refused() -> None:
    """With the number of the rotation and the reason."""
    one, two, three, other = (SigningKey.new() for _ in range(4))
    first = handed_over(one, two, NOW)
    second = handed_over(two, three, NOW + timedelta(days=1))
    forged = handed_over(other, three, NOW).model_copy(update={"from_key": two.public_hex})
    late = second.model_copy(update={"rotated_at": NOW + timedelta(days=2)})
    for chain, number, reason in (
        ((first, forged), 2, "not signed by the key"),
        ((first, late), 2, "not signed by the key"),
        ((first, handed_over(other, three, NOW)), 2, "does not go on"),
        ((second, first), 2, "does not go on"),
        ((first, handed_over(two, three, NOW - timedelta(days=1))), 2, "before the rotation"),
        ((first, handed_over(two, one, NOW)), 2, "in use before"),
        ((handed_over(one, one, NOW),), 1, "to itself"),
        ((first.model_copy(update={"to_key": "x"}),), 1, "no public key"),
        ((handed_over(other, three, NOW),), 1, "none goes on"),
    ):
        with pytest.raises(IntegrityError, match=reason) as refusal:
            trusted_keys(one.public_hex, chain)
        assert refusal.value.seq == number
    with pytest.raises(UsageError):
        trusted_keys("key", ())


def test_a_file_of_rotations_that_is_of_another_key_stops_a_rotation(tmp_path: Path) -> None:
    """Else the record would name an old key that nobody has handed over to."""
    path = tmp_path / "key.pem"
    SigningKey.generate(path)
    rotate(path, NOW)
    path.unlink()
    key = SigningKey.generate(path)
    with pytest.raises(ConfigError, match="another key"):
        rotate(path, NOW)
    file = tmp_path / "key.pem.rotations.json"
    file.write_text(json.dumps([{"from_key": 1}]))
    with pytest.raises(ConfigError, match="does not hold rotations"):
        rotations_of(path)
    assert SigningKey.from_file(path).public_hex == key.public_hex
