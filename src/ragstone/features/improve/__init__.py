"""Developing a judge: drafts run on the dev part of a labelled set, versions frozen, looks at the rest."""
