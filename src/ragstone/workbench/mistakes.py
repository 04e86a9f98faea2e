"""Pages that say what is wrong with a request."""

from typing import Any

from litestar import Response
from litestar.exceptions import HTTPException, NotFoundException, ValidationException

from ragstone.kernel.errors import RagstoneError
from ragstone.kernel.serve.frame import page
from ragstone.kernel.serve.requests import AnyRequest

NO_PAGE = "There is no such page in the workbench. Use the links above."
WRONG = {401: "Log in first", 403: "Not for your role", 404: "Not found", 413: "Too large"}


def wrong_page(request: AnyRequest, status: int, words: str) -> Response[str]:
    """Return the page that says what is wrong."""
    title = WRONG.get(status, "Something went wrong")
    return page(request, "workbench/wrong.html", title, status=status, words=words)


def error_page(request: AnyRequest, mistake: Exception) -> Response[Any]:
    """Return a page that says what is wrong; a script that asks for JSON gets the words as JSON."""
    match mistake:
        case ValidationException() if isinstance(mistake.extra, list):
            status, text = mistake.status_code, _unfit(mistake.extra)
        case NotFoundException(detail="Not Found"):
            status, text = mistake.status_code, NO_PAGE
        case HTTPException():
            status, text = mistake.status_code, mistake.detail
        case RagstoneError():
            status, text = 422, str(mistake)
        case _:
            raise mistake
    if "application/json" in request.headers.get("accept", ""):
        answer: Response[Any] = Response({"detail": text}, status_code=status)
    else:
        answer = wrong_page(request, status, text)
    answer.headers.update(getattr(mistake, "headers", None) or {})
    return answer


def _unfit(errors: list[Any]) -> str:
    """Return what is wrong with the values of an address or a form, by their names."""
    problems = [
        f"{error['key']}: {error['message']}" if error.get("key") else str(error["message"])
        for error in errors
    ]
    return f"The request is not valid. {'; '.join(problems)}."
