"""What the page of a judge does to let it learn: forecast, and run; the table stands on the page itself."""

from litestar import post
from litestar.params import JSONBody

from ragstone.features.improve._labelled_sets import open_set
from ragstone.features.improve.develop import DevelopmentRun
from ragstone.features.improve.draft_forms import (
    HowToRun,
    Started,
    number_in,
    scale_of,
)
from ragstone.features.improve.judge_files import JudgeFile
from ragstone.features.improve.learn import (
    LearningRun,
    LearningTask,
    forecast_learning,
    learn,
    learning_task,
)
from ragstone.features.improve.pages import GIVEN as GIVEN
from ragstone.features.improve.pages import AtJudge, development_of
from ragstone.kernel.config import Settings
from ragstone.kernel.console.forms import Expected, settings_of
from ragstone.kernel.engine.session import Session
from ragstone.kernel.judging.unnamed_model import IN_SETTINGS, check_model_named
from ragstone.kernel.serve.frame import OWNER, AtPerson
from ragstone.kernel.serve.jobs import JudgeRun, caps_of_form
from ragstone.kernel.serve.requests import AnyRequest
from ragstone.kernel.serve.state import AppState, AtApp


class HowToLearn(HowToRun, frozen=True, kw_only=True):
    """How a judge is to learn. methods: of METHODS, none for all; yes_from: "" where labels are 0 and 1."""

    methods: tuple[str, ...] = ()
    yes_from: str = ""


@post("/judges/{name:str}/learn/forecast", status_code=200, sync_to_thread=True, guards=[OWNER])
def forecast_learn(app: AtApp, file: AtJudge, data: JSONBody[HowToLearn]) -> Expected:
    """Give what learning would ask at most; nobody is asked."""
    settings = settings_of(app.settings, data.model)
    return Expected.by(forecast_learning(_task(app, file, settings, data), settings))


@post("/judges/{name:str}/learn", sync_to_thread=True, guards=[OWNER])
def learn_from_labels(
    request: AnyRequest, app: AtApp, person: AtPerson, file: AtJudge, data: JSONBody[HowToLearn]
) -> Started:
    """Begin to learn: the judge's file gets its next version if something is better on the test part."""
    settings, store = settings_of(app.settings, data.model), app.part(development_of)
    task, caps = _task(app, file, settings, data), caps_of_form(data.budget)
    job = JudgeRun("learn", person.name, 0)
    app.jobs.begin(file.name, job)

    async def work(session: Session) -> int:
        learning = await learn(task, session, store, person.name)
        store.put_learning(file.name, learning)
        return learning.new_version or 0

    job.start(settings, caps, work)
    app.audit(request, "let a judge learn", judge=file.name, labels=data.labels)
    return Started(draft=0, running=True)


def _task(app: AppState, file: JudgeFile, settings: Settings, data: HowToLearn) -> LearningTask:
    """Return what is to be learned. Raises ConfigError, DataError for labels."""
    run = LearningRun(
        development=DevelopmentRun(
            judge=file.path if file.path.is_file() else file.origin or file.name,
            labels=data.labels,
            settings=settings,
            scale=scale_of(data),
        ),
        methods=data.methods,
        yes_from=number_in(data.yes_from, "yes from") if data.yes_from.strip() else None,
    )
    task = learning_task(
        run, open_set(settings, data.labels, run.development.scale.words), app.part(development_of)
    )
    check_model_named([task.file.judge], settings.judge.model, IN_SETTINGS)
    return task


ROUTES = (forecast_learn, learn_from_labels)
