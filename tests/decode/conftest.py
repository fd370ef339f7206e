"""The recordings that the tests of check and decode share."""

from __future__ import annotations

from tests.check.conftest import broken, pytest_generate_tests, recording, replaced

__all__ = ["broken", "pytest_generate_tests", "recording", "replaced"]
