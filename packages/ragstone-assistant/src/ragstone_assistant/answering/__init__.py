"""Questions and passages -> answers with citations, in the language of the question."""
