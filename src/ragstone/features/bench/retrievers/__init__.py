"""The flow `bench_retrievers`: its command, and what nobody else uses."""
