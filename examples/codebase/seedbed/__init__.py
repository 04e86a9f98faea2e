"""Seedbed plans when rows are sown and watered. An invented package, the source tree of this example."""
