"""The report: static pages of the results of several testees (docs/report.md)."""
