"""A certificate and the candidates that it is of -> one HTML document that asks nothing of any network."""

from collections.abc import Sequence

from ragstone.dataset.candidate import Candidate
from ragstone.dataset.certifying.certificate import Certificate
from ragstone.dataset.certifying.funnel import n_lost
from ragstone.report import certificate_words
from ragstone.report.certificate_rows import Embedded, embed_candidates
from ragstone.report.certified import Certified
from ragstone.report.render.html import asset, environment, policy, safe
from ragstone.report.review_words import review_sentences
from ragstone.report.wording import count


def render_certificate(certificate: Certificate, candidates: Sequence[Candidate]) -> str:
    """Return the page of a certificate, with the candidates to open."""
    css, js = asset("page.css") + asset("certificate.css"), asset("certificate.js")
    rows = embed_candidates(candidates, certificate.declared.threshold)
    return (
        environment()
        .get_template("certificate.html")
        .render(
            words_of_certificates(),
            certificate=certificate,
            cut_note=_cut_note(certificate, rows),
            index=safe(rows.index.decode()),
            details=[safe(block.decode()) for block in rows.details],
            passages=safe(rows.passages.decode()),
            css=safe(css),
            js=safe(js),
            policy=policy(css, js),
        )
    )


def render_section(certified: Certified) -> str:
    """Return the section of a run's report on the certificate of its questions."""
    certificate = certified.certificate
    return (
        environment()
        .get_template("certified.html")
        .render(
            words_of_certificates(),
            certificate=certificate,
            fit=certified.fit,
            said=certificate_words.fitting(certified.fit, certificate),
        )
    )


def words_of_certificates() -> dict[str, object]:
    """Return what the templates of a certificate call: its words, and the tables of words."""
    found = vars(certificate_words) | {"review_sentences": review_sentences}
    return {name: value for name, value in found.items() if callable(value) or name.isupper()}


def _cut_note(certificate: Certificate, rows: Embedded) -> str:
    funnel = certificate.funnel
    if rows.n_accepted == funnel.n_accepted and rows.n_lost == n_lost(funnel):
        return ""
    return (
        f"To stay small, this page shows {count(rows.n_accepted)} of {count(funnel.n_accepted)} accepted and "
        f"{count(rows.n_lost)} of {count(n_lost(funnel))} lost, from the first document to the last. The "
        "`.all` file beside it holds every one."
    )
