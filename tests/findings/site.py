"""Findings as pages of the documentation: one a finding and their index, which ``make docs`` makes of the records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from forge.conform.findings.pages import defect_of, finding_view
from forge.conform.findings.records import Finding, count_withheld, public
from forge.render.templates import render


def finding_pages(findings: Sequence[Finding]) -> dict[str, str]:
    """The text of each page by its name: one a finding that is public, and ``index.md``."""
    shown = [finding for finding in public(list(findings)) if finding.made is not None]
    pages = {f"{finding.name}.md": render("findings/finding.md.j2", **finding_view(finding)) for finding in shown}
    groups = [
        {"decoder": decoder, "findings": [finding for finding in shown if finding.decoder == decoder]}
        for decoder in sorted({finding.decoder for finding in shown})
    ]
    pages["index.md"] = render(
        "findings/index.md.j2",
        groups=groups,
        count=len(shown),
        unknown=sum(not finding.known for finding in shown),
        withheld=count_withheld(list(findings)),
        statuses=Counter(finding.status for finding in shown),
        defect_of=defect_of,
    )
    return pages
