"""What Ray says when something went wrong -> what to do."""

from collections.abc import Awaitable

from ragstone.kernel.errors import DataError, ModelError, RagstoneError

GONE = (
    "the coordinator of the run is gone: its process was ended, or the driver's node. Finished calls are in "
    "the ledger: run the same command again."
)
AGAIN = "Finished calls are in the ledger: run the same command again."


async def of_coordinator(reply: Awaitable[object]) -> object:
    """Return what the coordinator replies. Raises ModelError where it is gone."""
    from ray.exceptions import RayError

    try:
        return await reply
    except RayError:
        raise ModelError(GONE) from None


def explained(mistake: Exception) -> RagstoneError:
    """Return an error of Ray's as one of ours, in one line that says what to do."""
    text = str(mistake)
    if type(mistake).__name__ == "OutOfDiskError" or "No space left on device" in text:
        return DataError(
            "the disk of a node is full, where Ray keeps what is under way. Free some space in its "
            f"temporary folder (/tmp/ray unless you chose another). {AGAIN}"
        )
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    why = lines[-1] if lines else type(mistake).__name__
    return RagstoneError(
        f"the cluster could not continue ({why}). Look at `ray status` and the logs in /tmp/ray. {AGAIN}"
    )
