"""A model file for ONNX Runtime, written from arrays: what of the format an encoder of text needs.

The fields are those of onnx.proto of ONNX 1.23; a message is its fields, one after the other.
"""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

IR_VERSION = 9
OPSETS = {"": 17, "com.microsoft": 1}
TYPES = {"float32": 1, "int8": 3, "int64": 7}

Attribute = int | float


class Graph:
    """A graph under construction: each call of `node` adds one, and returns the name of what it gives."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._arrays: list[bytes] = []
        self._n_names = 0

    def array(self, values: NDArray[np.generic]) -> str:
        """Add an array that the graph holds; return its name."""
        name = self._name()
        parts = [_number(1, n) for n in values.shape]
        parts += [_number(2, TYPES[values.dtype.name]), _text(8, name), _bytes(9, values.tobytes())]
        self._arrays.append(b"".join(parts))
        return name

    def node(self, kind: str, *inputs: str, n_outputs: int = 1, **attributes: Attribute) -> list[str]:
        """Add a node; return the names of its outputs. kind: `Operator`, or `domain/Operator`."""
        domain, _, operator = kind.rpartition("/")
        outputs = [self._name() for _ in range(n_outputs)]
        parts = [_text(1, name) for name in inputs] + [_text(2, name) for name in outputs]
        parts += [_text(4, operator), _text(7, domain)]
        for name, value in attributes.items():
            whole = isinstance(value, int)
            number = _number(3, int(value)) if whole else _key(2, 5) + np.float32(value).tobytes()
            parts.append(_bytes(5, _text(1, name) + number + _number(20, 2 if whole else 1)))
        self._nodes.append(b"".join(parts))
        return outputs

    def model(self, inputs: Mapping[str, Sequence[int]], output: str) -> bytes:
        """Return the file. inputs: name -> shape of float32, -1 for a length that is not fixed."""
        parts = [_bytes(1, node) for node in self._nodes]
        parts += [_text(2, "encoder"), *(_bytes(5, array) for array in self._arrays)]
        parts += [_bytes(11, _value(name, shape)) for name, shape in inputs.items()]
        parts.append(_bytes(12, _value(output, None)))
        opsets = [_text(1, domain) + _number(2, version) for domain, version in OPSETS.items()]
        return b"".join(
            [_number(1, IR_VERSION), _bytes(7, b"".join(parts)), *(_bytes(8, opset) for opset in opsets)]
        )

    def _name(self) -> str:
        self._n_names += 1
        return f"v{self._n_names}"


def _value(name: str, shape: Sequence[int] | None) -> bytes:
    tensor = _number(1, TYPES["float32"])
    if shape is not None:
        dimensions = (_number(1, n) if n >= 0 else _text(2, f"n{at}") for at, n in enumerate(shape))
        tensor += _bytes(2, b"".join(_bytes(1, dimension) for dimension in dimensions))
    return _text(1, name) + _bytes(2, _bytes(1, tensor))


def _number(field: int, value: int) -> bytes:
    return _key(field, 0) + _varint(value % 2**64)  # negative ones are their complement in 64 bits


def _text(field: int, text: str) -> bytes:
    return _bytes(field, text.encode())


def _bytes(field: int, content: bytes) -> bytes:
    return _key(field, 2) + _varint(len(content)) + content


def _key(field: int, wire_type: int) -> bytes:
    return _varint(field << 3 | wire_type)


def _varint(value: int) -> bytes:
    groups = bytearray()
    while value > 0x7F:
        groups.append(value & 0x7F | 0x80)
        value >>= 7
    groups.append(value)
    return bytes(groups)
