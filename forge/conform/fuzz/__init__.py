"""Fuzzing of other people's readers: changed logs, and the rule that says what a reader may do with them."""
