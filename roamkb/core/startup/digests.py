"""SHA-256 and BLAKE2 as `hashlib` has them, without OpenSSL, which takes a quarter of Python's start to load.

For keys and short texts: of large files OpenSSL makes a digest in a fifth of the time.
"""

from roamkb import TYPE_CHECKING

if TYPE_CHECKING:
    from hashlib import blake2b as blake2b
    from hashlib import sha256 as sha256

#: The modules that may have each, by release and by how Python was built.
_MODULES = {"blake2b": ("_blake2", "hashlib"), "sha256": ("_sha2", "_sha256", "hashlib")}


def __getattr__(name: str) -> object:
    """Load the hash function that is requested, and no other."""
    for module in _MODULES.get(name, ()):
        try:
            function = getattr(__import__(module), name)
        except ImportError:
            continue
        # a module that isn't there is looked for in all folders, each time
        globals()[name] = function
        return function
    raise AttributeError(f"module 'roamkb.core.startup.digests' has no attribute {name!r}")
