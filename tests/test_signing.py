"""Signed model files: who wrote them is told by keys, and nothing unsigned passes for signed."""

import base64
import hashlib

import numpy as np
import pytest

pytest.importorskip("cryptography")
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key

from benchmarks.fault_trials._forgery import parts_of, sealed
from mercer import SVC, load, save
from mercer.io import DataError
from mercer.model_files import PASSPHRASE, content_of, file_of, fingerprint, open_model, sign

X = np.random.default_rng(0).normal(size=(20, 2))
MODEL = SVC("linear").fit(X, X[:, 0] > 0)
FORMS = {"pem": serialization.PrivateFormat.PKCS8, "ssh": serialization.PrivateFormat.OpenSSH}


def write_keys(folder, name, form="ssh", passphrase=None):
    """A private key and its public half, as OpenSSL or OpenSSH write them."""
    key = Ed25519PrivateKey.generate()
    how = serialization.NoEncryption() if passphrase is None else serialization.BestAvailableEncryption(passphrase)
    (folder / name).write_bytes(key.private_bytes(serialization.Encoding.PEM, FORMS[form], how))
    encoding, kind = {
        "pem": (serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo),
        "ssh": (serialization.Encoding.OpenSSH, serialization.PublicFormat.OpenSSH),
    }[form]
    (folder / f"{name}.pub").write_bytes(key.public_key().public_bytes(encoding, kind) + b"\n")
    return key


@pytest.mark.parametrize("form", FORMS)
def test_a_signed_model_is_told_by_its_key(tmp_path, form):
    mine = write_keys(tmp_path, "mine", form)
    write_keys(tmp_path, "other", form)
    path = tmp_path / "m.safetensors"
    save(MODEL, path, sign=tmp_path / "mine")
    opened = open_model(path, verify=tmp_path / "mine.pub")
    assert opened.verified
    assert opened.signer == fingerprint(mine.public_key().public_bytes_raw())
    np.testing.assert_array_equal(load(path).predict(X), MODEL.predict(X))
    assert open_model(path).signer == opened.signer
    assert not open_model(path).verified
    with pytest.raises(
        DataError, match=r"signed with none of the keys that were given; it says that its key is SHA256:"
    ):
        load(path, verify=tmp_path / "other.pub")
    keys = tmp_path / "keys"
    keys.write_bytes((tmp_path / "other.pub").read_bytes() + (tmp_path / "mine.pub").read_bytes())
    assert open_model(path, verify=keys).signer == opened.signer
    assert open_model(path, verify=[tmp_path / "other.pub", tmp_path / "mine.pub"]).verified


def test_an_old_file_is_signed_as_it_is(tmp_path):
    write_keys(tmp_path, "mine")
    path = tmp_path / "m.safetensors"
    save(MODEL, path, {"note": "kept"})
    with pytest.raises(DataError, match=r"'m.safetensors' is not signed; sign it where it was made"):
        load(path, verify=tmp_path / "mine.pub")
    before = parts_of(path.read_bytes())
    sign(path, tmp_path / "mine")
    after = parts_of(path.read_bytes())
    assert after[0] == before[0]
    assert all((after[1][name] == before[1][name]).all() for name in before[1])
    assert open_model(path, verify=tmp_path / "mine.pub").about["note"] == "kept"


def test_what_was_changed_after_signing_is_refused_before_it_is_looked_at(tmp_path):
    write_keys(tmp_path, "mine")
    path = tmp_path / "m.safetensors"
    save(MODEL, path, sign=tmp_path / "mine")
    content, arrays = parts_of(path.read_bytes())
    from safetensors import safe_open
    from safetensors.numpy import load as arrays_of
    from safetensors.numpy import save as file_of

    with safe_open(path, "numpy") as file:
        metadata = file.metadata()
    content["model"] = {"object": "os.system", "fields": {}}
    path.write_bytes(sealed(content, arrays))
    with safe_open(path, "numpy") as file:
        stolen = {**file.metadata(), "signature": metadata["signature"], "signer": metadata["signer"]}
    path.write_bytes(file_of(arrays_of(path.read_bytes()), stolen))
    with pytest.raises(DataError, match="signed with none of the keys"):
        load(path, verify=tmp_path / "mine.pub")
    with pytest.raises(DataError, match="unknown kind of step"):
        load(path)
    for nonsense in ("", "?", base64.b64encode(bytes(64)).decode(), "x" * 10**5):
        path.write_bytes(file_of(arrays_of(path.read_bytes()), {**stolen, "signature": nonsense, "signer": nonsense}))
        with pytest.raises(DataError, match="signed with none of the keys that were given"):
            load(path, verify=tmp_path / "mine.pub")


@pytest.mark.parametrize("form", FORMS)
def test_keys_with_a_passphrase(tmp_path, monkeypatch, form):
    if form == "ssh":
        pytest.importorskip("bcrypt")
    write_keys(tmp_path, "locked", form, b"hush")
    path = tmp_path / "m.safetensors"
    monkeypatch.delenv(PASSPHRASE, raising=False)
    with pytest.raises(DataError, match="'locked' has a passphrase; put it into the environment variable"):
        save(MODEL, path, sign=tmp_path / "locked")
    monkeypatch.setenv(PASSPHRASE, "wrong")
    with pytest.raises(DataError, match="damaged key, or its passphrase is wrong"):
        save(MODEL, path, sign=tmp_path / "locked")
    assert not path.exists()
    monkeypatch.setenv(PASSPHRASE, "hush")
    save(MODEL, path, sign=tmp_path / "locked")
    assert open_model(path, verify=tmp_path / "locked.pub").verified


def test_keys_of_other_kinds(tmp_path):
    path = tmp_path / "m.safetensors"
    save(MODEL, path)
    write_keys(tmp_path, "mine")
    rsa = generate_private_key(65537, 1024)
    rsa_bytes = rsa.private_bytes(serialization.Encoding.PEM, FORMS["pem"], serialization.NoEncryption())
    (tmp_path / "rsa").write_bytes(rsa_bytes)
    (tmp_path / "text").write_text("hello\n")
    (tmp_path / "broken").write_bytes((tmp_path / "mine").read_bytes()[:150] + b"\n-----END OPENSSH PRIVATE KEY-----")
    for name, sentence in (
        ("rsa", "another kind than Ed25519"),
        ("text", "no private key"),
        ("broken", "damaged key"),
        ("none", "there is no file"),
    ):
        with pytest.raises(DataError, match=sentence):
            sign(path, tmp_path / name)
    with pytest.raises(DataError, match="whoever verifies needs its public half alone"):
        load(path, verify=tmp_path / "mine")
    with pytest.raises(DataError, match=r"damaged public key|public Ed25519 keys"):
        load(path, verify=tmp_path / "text")


def test_fingerprints_are_those_of_openssh(tmp_path):
    write_keys(tmp_path, "mine")
    save(MODEL, tmp_path / "m", sign=tmp_path / "mine")
    wire = base64.b64decode((tmp_path / "mine.pub").read_bytes().split()[1])  # of which ssh-keygen -l shows the hash
    shown = base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")
    assert open_model(tmp_path / "m").signer == f"SHA256:{shown}"


def test_on_the_command_line(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from mercer.cli import main

    monkeypatch.chdir(tmp_path)
    write_keys(tmp_path, "mine")
    write_keys(tmp_path, "other")

    def called(line):
        return CliRunner().invoke(main, line.split())

    assert called("train perceptron xor:60 -o m --sign nowhere").exit_code == 1
    assert not (tmp_path / "m").exists()
    assert called("train perceptron xor:60 -o m --sign mine -q").exit_code == 0
    assert called("run m xor:20 --verify other.pub --verify mine.pub").exit_code == 0
    assert "signed by SHA256:" in called("inspect m").output
    assert "not verified" in called("inspect m").output
    for command in ("run m xor:20", "explain m xor:20", "inspect m"):
        refused = called(f"{command} --verify other.pub")
        assert refused.exit_code == 1
        assert "signed with none of the keys" in refused.output
    assert "is signed with the key SHA256:" in called("sign m --key other").output
    assert called("inspect m --verify other.pub").exit_code == 0


def test_inspect_shows_the_machine_and_not_what_the_file_says(tmp_path, monkeypatch):
    from click.testing import CliRunner

    from mercer.cli import main

    monkeypatch.chdir(tmp_path)
    assert CliRunner().invoke(main, ["train", "svc", "xor:60", "-o", "m", "-q"]).exit_code == 0
    content, arrays = parts_of((tmp_path / "m").read_bytes())
    content["about"] |= {"kernel": "quantum\x1b[31m", "learner": "oracle\x07", "classes": ["heads", "tails"]}
    (tmp_path / "m").write_bytes(sealed(content, arrays))
    shown = CliRunner().invoke(main, ["inspect", "m"]).output
    machine, said = shown.split("what the file says about it")
    assert "SVC" in machine
    assert "gaussian(gamma=" in machine
    assert "quantum" not in shown
    assert "oracle" in said
    assert "oracle" not in machine
    assert "heads" not in machine
    assert "\x1b" not in shown
    assert "\x07" not in shown
    content["about"]["training"] = {"rows": "many", "seconds": "few", "errors": [1]}
    (tmp_path / "m").write_bytes(sealed(content, arrays))
    assert "makes no sense, and is left out" in CliRunner().invoke(main, ["inspect", "m"]).output
    content["about"]["columns"] = {"x": 1}
    (tmp_path / "m").write_bytes(sealed(content, arrays))
    refused = CliRunner().invoke(main, ["run", "m", "xor:20"])
    assert "was not written by a command of mercer: columns of about must be" in refused.output


def test_a_file_of_keys_may_mix_those_of_openssl_and_openssh(tmp_path):
    for name, form in [("one", "pem"), ("two", "ssh"), ("three", "pem")]:
        write_keys(tmp_path, name, form)
    lines = [(tmp_path / f"{name}.pub").read_bytes() for name in ("one", "two", "three")]
    (tmp_path / "keys").write_bytes(b"# ours\n" + b"".join(lines))
    for name in ("one", "two", "three"):
        save(MODEL, tmp_path / "m", sign=tmp_path / name)
        assert open_model(tmp_path / "m", verify=tmp_path / "keys").verified


def test_a_signature_that_does_not_fit_is_told_without_keys(tmp_path, mercer):
    write_keys(tmp_path, "mine")
    path = tmp_path / "m.safetensors"
    save(MODEL, path)
    assert open_model(path).signature_fits is None
    sign(path, tmp_path / "mine")
    assert open_model(path).signature_fits is True
    signed = content_of(path.read_bytes(), "m", 10**9)
    named = {name: signed.metadata[name] for name in ("signature", "signer")}
    path.write_bytes(file_of(signed.text.replace('"about": {}', '"about": {"by": "them"}'), signed.arrays, named))
    assert open_model(path).signature_fits is False
    assert "carries an invalid signature" in mercer(f"inspect {path}").stdout


def test_an_empty_passphrase_is_none(tmp_path, monkeypatch):
    write_keys(tmp_path, "mine", "pem", b"word")
    monkeypatch.setenv(PASSPHRASE, "")
    with pytest.raises(DataError, match="has a passphrase; put it into the environment variable MERCER_KEY_PASSPHRASE"):
        save(MODEL, tmp_path / "m", sign=tmp_path / "mine")
