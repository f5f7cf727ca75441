"""Signatures of model files: Ed25519, with keys of the user's own, by the library ``cryptography``.

What is signed is the checksum, which covers text and arrays. Keys are those of OpenSSH and OpenSSL: nobody needs a
program of ours to make one, and a public key may stand where it is kept already.
"""

from __future__ import annotations

import base64
import getpass
import hashlib
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ..io.sources import raw_bytes
from ..io.table import DataError

__all__ = [
    "PASSPHRASE",
    "Keys",
    "fingerprint",
    "private_key",
    "signature_fits",
    "signature_of",
    "signer_told",
    "verified",
]

#: Where a passphrase is looked for before it is asked for.
PASSPHRASE = "MERCER_KEY_PASSPHRASE"
Keys = str | Path | Sequence[str | Path]
#: What stands before a checksum that is signed, so that a signature of a model is good for nothing else.
_PURPOSE = b"mercer model file\n"
_LARGEST = 10**6
_PEM = re.compile(rb"-----BEGIN PUBLIC KEY-----.*?-----END PUBLIC KEY-----", re.DOTALL)
_MAKE = "make one with: ssh-keygen -t ed25519 -f mercer.key"


def signature_of(checksum: str, key: Any) -> dict[str, str]:
    """The metadata that sign a file of this checksum with a private key, or with the one in a file."""
    private = private_key(key) if isinstance(key, (str, Path)) else key
    raw = private.public_key().public_bytes_raw()
    signature = private.sign(_PURPOSE + checksum.encode())
    return {"signature": base64.b64encode(signature).decode(), "signer": base64.b64encode(raw).decode()}


def signer_told(metadata: Mapping[str, Any]) -> str | None:
    """The fingerprint of the key that a file says it was signed with; ``None`` where it is not signed."""
    try:
        return fingerprint(base64.b64decode(metadata["signer"], validate=True))
    except (KeyError, TypeError, ValueError):
        return None


def verified(checksum: str, metadata: Mapping[str, Any], keys: Keys, shown: str) -> str:
    """The fingerprint of the one of these public keys that signed a file of this checksum, or ``DataError``."""
    _serialization()
    from cryptography.exceptions import InvalidSignature

    known = [key for path in ([keys] if isinstance(keys, (str, Path)) else keys) for key in _public_keys(path)]
    if "signature" not in metadata:
        raise DataError(f"{shown} is not signed; sign it where it was made: mercer sign MODEL --key KEY.")
    try:
        signature = base64.b64decode(metadata["signature"], validate=True)
    except (TypeError, ValueError):
        signature = b""
    for key in known:
        try:
            key.verify(signature, _PURPOSE + checksum.encode())
            return fingerprint(key.public_bytes_raw())
        except InvalidSignature:
            continue
    signer = signer_told(metadata)
    by = "" if signer is None else f"; it says that its key is {signer}"
    raise DataError(f"{shown} is signed with none of the keys that were given{by}.")


def signature_fits(checksum: str, metadata: Mapping[str, Any]) -> bool | None:
    """Whether a signature was made with the key beside it; ``None`` where there is none, or nobody can tell."""
    if "signature" not in metadata and "signer" not in metadata:
        return None
    try:
        from cryptography.exceptions import InvalidSignature
        from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
    except ImportError:
        return None
    try:
        key = Ed25519PublicKey.from_public_bytes(base64.b64decode(metadata["signer"], validate=True))
        key.verify(base64.b64decode(metadata["signature"], validate=True), _PURPOSE + checksum.encode())
    except (InvalidSignature, KeyError, TypeError, ValueError):
        return False
    return True


def fingerprint(raw: bytes) -> str:
    """A short name of a public key, as ``ssh-keygen -l`` shows it.

    Examples
    --------
    >>> fingerprint(bytes(32))
    'SHA256:kmYcvdi2GkPeWxB6XLjrZB8JHsy2Hm8luHMFp9GMvqk'
    """
    if len(raw) != 32:
        raise ValueError("a public key has 32 bytes")
    name = b"ssh-ed25519"
    wire = len(name).to_bytes(4, "big") + name + len(raw).to_bytes(4, "big") + raw
    return "SHA256:" + base64.b64encode(hashlib.sha256(wire).digest()).decode().rstrip("=")


# -- files of keys ------------------------------------------------------------------------------------------------


def private_key(path: str | Path) -> Any:
    """The private key in a file; its passphrase is asked for where it has one."""
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    data, shown = _text_of(path)
    if b"PRIVATE KEY" not in data:
        raise DataError(f"{shown} holds no private key; {_MAKE}")
    read = serialization.load_ssh_private_key if b"OPENSSH" in data else serialization.load_pem_private_key
    try:
        key = _unlocked(read, data, shown)
    except DataError:
        raise
    except Exception as error:  # whatever a damaged key makes the library say
        if "bcrypt" in str(error):
            raise DataError(f"the passphrase of {shown} needs the package bcrypt: pip install bcrypt") from None
        raise DataError(f"{shown} is a damaged key, or its passphrase is wrong ({type(error).__name__}).") from None
    if not isinstance(key, Ed25519PrivateKey):
        raise DataError(f"{shown} is a key of another kind than Ed25519; {_MAKE}")
    return key


def _unlocked(read: Any, data: bytes, shown: str) -> Any:
    try:
        return read(data, None)
    except (TypeError, ValueError) as error:
        if not isinstance(error, TypeError) and "ncrypted" not in str(error) and "assword" not in str(error):
            raise
    given = os.environ.get(PASSPHRASE)
    if not given:
        if not sys.stdin.isatty():
            raise DataError(f"{shown} has a passphrase; put it into the environment variable {PASSPHRASE}.")
        given = getpass.getpass(f"Passphrase of {shown}: ")
    return read(data, given.encode())


def _public_keys(path: str | Path) -> list[Any]:
    """All public keys in a file: a PEM block or a line as OpenSSH writes them, for each."""
    serialization = _serialization()
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey

    data, shown = _text_of(path)
    if b"PRIVATE KEY" in data:
        raise DataError(f"{shown} is a private key; whoever verifies needs its public half alone (the .pub file).")
    try:
        keys = [serialization.load_pem_public_key(block) for block in _PEM.findall(data)]
        lines = [line.strip() for line in _PEM.sub(b"", data).splitlines()]
        keys += [serialization.load_ssh_public_key(line) for line in lines if line and not line.startswith(b"#")]
    except Exception as error:  # whatever a damaged key makes the library say
        raise DataError(f"{shown} holds a damaged public key ({type(error).__name__}).") from None
    if not keys or not all(isinstance(key, Ed25519PublicKey) for key in keys):
        raise DataError(f"{shown} must hold public Ed25519 keys and nothing else; {_MAKE}")
    return keys


def _text_of(path: str | Path) -> tuple[bytes, str]:
    shown = repr(Path(path).name)
    return raw_bytes(str(path), _LARGEST, shown), shown


def _serialization() -> Any:
    try:
        from cryptography.hazmat.primitives import serialization
    except ImportError:
        raise DataError("signatures need the package cryptography: pip install 'mercer[signing]'") from None
    return serialization
