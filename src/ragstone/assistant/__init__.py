"""The reference application: an agricultural assistant, from its knowledge base to its chat page."""
