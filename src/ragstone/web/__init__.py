"""The workbench in a browser, and what serves it and the assistant."""
