"""The conformance corpus: cases, their judgement, the manifest, and reports about it."""
