"""The flow `bench_answerers`: its command, and what nobody else uses."""
