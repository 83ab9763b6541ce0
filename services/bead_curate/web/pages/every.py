"""Every page's routes, in the order in which they are matched."""

from bead_curate.web.pages import (
    audit,
    drafts,
    fact,
    facts,
    forget,
    home,
    live,
    reports,
    review,
    sessions,
    settings,
    traces,
)

_PAGES = (home, live, facts, fact, forget, review, drafts, sessions, reports, audit, traces, settings)
ROUTES = tuple(route for page in _PAGES for route in page.ROUTES)
"""Method, path, handler."""
