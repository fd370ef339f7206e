"""The facts that a server line states, one record for each subject; the evidence stands in ``lines/*.toml``."""
