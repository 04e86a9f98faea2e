"""The flow `bench_judges`: its command, and what nobody else uses."""
