"""All pages of labelling."""

from ragstone.web.workbench.labelling import adjudicating, items, progress, queues

ROUTES = (*queues.ROUTES, *items.ROUTES, *progress.ROUTES, *adjudicating.ROUTES)
