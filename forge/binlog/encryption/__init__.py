"""Encrypted logs: MySQL's encrypted files, and MariaDB's encrypted events, with the keys of a keyring file.

AES comes from the package ``cryptography`` (extra ``encryption``).  The keys here open test data; nothing is done to
keep them secret.
"""

from forge.binlog.encryption.keyring import Keyring, read_keyring
from forge.binlog.encryption.seal import MariadbSeal, MysqlSeal, Seal, is_sealed, seal, unseal

__all__ = ["Keyring", "MariadbSeal", "MysqlSeal", "Seal", "is_sealed", "read_keyring", "seal", "unseal"]
