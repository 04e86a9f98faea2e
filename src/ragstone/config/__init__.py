"""ragstone.toml -> settings, with errors that name the line and the fix."""

from ragstone.config.assistant import AssistantSection, LogSection, McpServer
from ragstone.config.bench import (
    AgreementMeasure,
    AnswerersBench,
    BenchSection,
    Condition,
    JudgesBench,
    LanguagesBench,
    RetrieversBench,
)
from ragstone.config.build import BuildSection, FactsSection
from ragstone.config.chunk import ChunkSection
from ragstone.config.engine import EngineKind, EngineSection, LedgerSection
from ragstone.config.library import library_names, read_library, read_named
from ragstone.config.loading import (
    choose,
    convert_section,
    declared_tables,
    load_settings,
    parse_toml,
    place_of_key,
)
from ragstone.config.monitor import MonitorSection
from ragstone.config.retrievers import (
    Bm25Settings,
    DenseSettings,
    HttpSettings,
    HybridSettings,
    RerankSettings,
    RetrieverSettings,
)
from ragstone.config.sample import SampleSection
from ragstone.config.section import NotNegative, Positive, Price, Sampling, Section, Temperature, sampling_of
from ragstone.config.sections import (
    AgreeSection,
    AnswerSection,
    BlameSection,
    DocumentsSection,
    JudgeSection,
    ModelSettings,
    QuestionsSection,
    RetrieveSection,
    RunSection,
    Settings,
)
from ragstone.config.serve import ServeSection
from ragstone.config.systems import (
    ChatSystem,
    HttpSystem,
    PythonSystem,
    RagSystem,
    SheetSystem,
    SystemSettings,
)
from ragstone.config.translate import HttpTranslator, TranslateSection
from ragstone.config.workbench import WorkbenchSection

__all__ = [
    "AgreeSection",
    "AgreementMeasure",
    "AnswerSection",
    "AnswerersBench",
    "AssistantSection",
    "BenchSection",
    "BlameSection",
    "Bm25Settings",
    "BuildSection",
    "ChatSystem",
    "ChunkSection",
    "Condition",
    "DenseSettings",
    "DocumentsSection",
    "EngineKind",
    "EngineSection",
    "FactsSection",
    "HttpSettings",
    "HttpSystem",
    "HttpTranslator",
    "HybridSettings",
    "JudgeSection",
    "JudgesBench",
    "LanguagesBench",
    "LedgerSection",
    "LogSection",
    "McpServer",
    "ModelSettings",
    "MonitorSection",
    "NotNegative",
    "Positive",
    "Price",
    "PythonSystem",
    "QuestionsSection",
    "RagSystem",
    "RerankSettings",
    "RetrieveSection",
    "RetrieverSettings",
    "RetrieversBench",
    "RunSection",
    "SampleSection",
    "Sampling",
    "Section",
    "ServeSection",
    "Settings",
    "SheetSystem",
    "SystemSettings",
    "Temperature",
    "TranslateSection",
    "WorkbenchSection",
    "choose",
    "convert_section",
    "declared_tables",
    "library_names",
    "load_settings",
    "parse_toml",
    "place_of_key",
    "read_library",
    "read_named",
    "sampling_of",
]
