"""The kit: the corpus as plain files, for programs in any language (docs/kit.md)."""
