"""What the assistant was asked and what it said: masked, on disk before the reply ends, and as spans."""

from ragstone_assistant.log.exchange_log import ExchangeLog, read_exchanges, read_feedback

__all__ = ["ExchangeLog", "read_exchanges", "read_feedback"]
