"""The models and providers that can be named, and what was learnt of them."""
