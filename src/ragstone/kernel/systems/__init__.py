"""questions -> answers: the built-in RAG, a chat or HTTP application, a Python callable, an answer sheet."""
