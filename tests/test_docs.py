"""The documents say what the code does: tables, commands, links and the Python example."""

from __future__ import annotations

import ast
import importlib
import inspect
import json
import re
import shlex
from collections.abc import Iterator
from datetime import datetime, timezone
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
from scrapy.settings import default_settings
from scrapy.spiderloader import SpiderLoader
from scrapy.utils.project import get_project_settings

from mediacrawler import exceptions, settings
from mediacrawler.args import CrawlArgs
from mediacrawler.items import Comment, Creator, Media, MediaStatus, Post, field_names
from mediacrawler.ledger import Gap, Ledger
from mediacrawler.report import EXIT_CODES, Ending, build
from mediacrawler.sessions.check import SessionCheck
from mediacrawler.spiders.base import PlatformSpider

ROOT = Path(__file__).resolve().parent.parent
READMES = ("README.md", "README.zh-CN.md")
DOCUMENTS = [
    *READMES,
    "CHANGELOG.md",
    *sorted(path.relative_to(ROOT).as_posix() for path in (ROOT / "docs").rglob("*.md")),
]
EXIT_USAGE = 2
LOADER = SpiderLoader(get_project_settings())
SPIDERS: dict[str, Any] = {name: LOADER.load(name) for name in sorted(LOADER.list())}
FOR_ONE_PLATFORM = {
    f"{name.upper()}_{what}"
    for name in SPIDERS
    for what in ("MAX_CONCURRENCY", "COOKIES_FILE", "USER_AGENT")
}


def read(document: str) -> str:
    return (ROOT / document).read_text("utf-8")


def section(document: str, heading: str) -> str:
    """What stands below *heading* (with its #), up to the next one of its level or above."""
    text = read(document)
    start = text.index(f"\n{heading}\n") + len(heading) + 2
    level = heading.index(" ")
    end = re.search(rf"^#{{1,{level}}} ", text[start:], re.MULTILINE)
    return text[start : start + end.start()] if end else text[start:]


def rows(text: str) -> Iterator[list[str]]:
    """The cells of all table rows, without header and ruler."""
    lines = text.splitlines()
    for number, line in enumerate(lines):
        following = lines[number + 1] if number + 1 < len(lines) else ""
        if line.startswith("|") and not line.startswith("|---") and "|---" not in following:
            yield [cell.strip() for cell in line.strip().strip("|").split("|")]


def bare(cell: str) -> str:
    return cell.strip("`")


def names(text: str) -> list[str]:
    """The names in the first column of the tables of *text*."""
    return [bare(row[0]) for row in rows(text)]


def code_words(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


# --- Platforms --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("readme", "heading"), [("README.md", "## Platforms"), ("README.zh-CN.md", "## 支持的平台")]
)
def test_readme_says_what_each_platform_has(readme: str, heading: str) -> None:
    table = {
        bare(row[0]): (set(code_words(row[2])), set(code_words(row[3])))
        for row in rows(section(readme, heading))
    }

    assert table == {
        name: (set(spider.sorts), set(spider.post_types)) for name, spider in SPIDERS.items()
    }


@pytest.mark.parametrize("name", SPIDERS)
def test_each_platform_has_its_page(name: str) -> None:
    assert f"docs/platforms/{name}.md" in DOCUMENTS


@pytest.mark.parametrize("name", SPIDERS)
def test_architecture_page_gives_the_page_functions_as_they_are(name: str) -> None:
    pages = importlib.import_module(f"mediacrawler.pages.{name}")
    table = {
        words.partition("(")[0]: words
        for row in rows(section("docs/architecture.md", f"### `mediacrawler.pages.{name}`"))
        for words in code_words(row[0])
    }

    assert {"search", "post", "creator", "creator_posts", "comments", "replies", "me"} <= set(table)
    assert table == {function: call_of(getattr(pages, function)) for function in table}


def call_of(function: Any) -> str:
    """A function as the tables write it: without types, and without defaults that are None."""
    written: list[str] = []
    for name, one in inspect.signature(function).parameters.items():
        if one.kind is one.KEYWORD_ONLY and "*" not in written:
            written.append("*")
        written.append(name if one.default in (one.empty, None) else f"{name}={one.default!r}")
    return f"{function.__name__}({', '.join(written)})"


def test_recipe_lists_what_the_spiders_say_of_their_platforms() -> None:
    recipe = rows(section("docs/new-platform.md", "## The checklist of the spider"))
    listed = {words.partition("(")[0] for row in recipe for words in code_words(row[0])}
    contract = {*vars(PlatformSpider), *PlatformSpider.__annotations__, *vars(SessionCheck)}
    said = {name for spider in SPIDERS.values() for name in vars(spider)} & contract

    assert {name for name in said if not name.startswith("_")} <= listed
    assert listed <= contract | {name for spider in SPIDERS.values() for name in vars(spider)}


# --- Arguments and settings -------------------------------------------------------------------


def argument_defaults() -> dict[str, str]:
    defaults = CrawlArgs(keywords=["x"]).model_dump() | {"keywords": []}
    return {name: "" if value in (None, []) else str(value) for name, value in defaults.items()}


@pytest.mark.parametrize(
    ("readme", "heading"),
    [("README.md", "## Spider arguments"), ("README.zh-CN.md", "## 采集参数")],
)
def test_readme_lists_the_arguments_with_their_defaults(readme: str, heading: str) -> None:
    table = {bare(row[0]): row[1] for row in rows(section(readme, heading))}

    assert table == argument_defaults()


def test_readme_describes_the_arguments_as_the_model_does() -> None:
    table = {bare(row[0]): row[2] for row in rows(section("README.md", "## Spider arguments"))}

    assert table == {name: field.description for name, field in CrawlArgs.model_fields.items()}


def project_settings() -> dict[str, Any]:
    return {name: value for name, value in vars(settings).items() if name.isupper()}


def test_settings_page_lists_the_project_settings() -> None:
    documented = names(section("docs/settings.md", "## Project settings"))

    assert sorted(documented) == sorted(project_settings())


def test_settings_page_gives_the_defaults() -> None:
    table = rows(section("docs/settings.md", "## Project settings"))
    documented = {bare(row[0]): ast.literal_eval(bare(row[1])) for row in table if "`" in row[1]}

    assert documented == {name: project_settings()[name] for name in documented}


def known_settings() -> set[str]:
    scrapy = {name for name in vars(default_settings) if name.isupper()}
    return set(project_settings()) | scrapy | FOR_ONE_PLATFORM


@pytest.mark.parametrize(
    ("document", "heading"),
    [
        ("README.md", "## Main settings"),
        ("README.zh-CN.md", "## 主要设置"),
        ("docs/settings.md", "## Settings of one platform"),
        ("docs/settings.md", "## Scrapy's settings worth knowing"),
    ],
)
def test_tables_of_settings_name_real_ones(document: str, heading: str) -> None:
    documented = set(names(section(document, heading)))

    assert documented
    assert documented <= known_settings()


# --- Records, report, exit codes --------------------------------------------------------------


@pytest.mark.parametrize("item_class", [Post, Comment, Creator, Media])
def test_output_page_lists_the_fields_of_a_record_in_order(item_class: type) -> None:
    documented = names(section("docs/output.md", f"### {item_class.__name__}"))

    assert documented == list(field_names(item_class))


@pytest.mark.parametrize("name", SPIDERS)
def test_output_page_names_only_keys_of_extra_that_there_are(name: str) -> None:
    table = {
        bare(row[0]): row[1:] for row in rows(section("docs/output.md", "### Keys of `extra`"))
    }
    documented = {key for cell in table[name] for key in code_words(cell)}
    files = (ROOT / "mediacrawler" / "pages").glob(f"{name}*.py")
    written = {word for path in files for word in re.findall(r"\w+", path.read_text("utf-8"))}

    assert documented <= written


def test_output_page_lists_what_can_become_of_a_file() -> None:
    assert set(names(section("docs/output.md", "## Files"))) == set(get_args(MediaStatus))


OPEN_KEYS = {
    "arguments",
    "settings",
    "media",
    "seeds[].skipped",
    "seeds[].failed",
    "creators.skipped",
    "creators.failed",
    "requests.retry_reasons",
}
"""Parts of the report whose keys are data: names of arguments, statuses, ids."""


def report_keys(value: dict[str, Any], prefix: str = "") -> Iterator[str]:
    for name, inner in value.items():
        path = prefix + name
        yield path
        if path in OPEN_KEYS:
            continue
        if isinstance(inner, dict):
            yield from report_keys(inner, f"{path}.")
        elif isinstance(inner, list) and inner and isinstance(inner[0], dict):
            yield from report_keys(inner[0], f"{path}[].")


def test_output_page_lists_the_keys_of_the_report() -> None:
    ledger = Ledger(gaps=[Gap("note-1", None, None, "stopped")])
    ledger.add_seed("keyword", "露营", 3)
    now = datetime.now(timezone.utc)
    report = build(
        platform="xhs",
        arguments={},
        settings={},
        ledger=ledger,
        stats={},
        ending=Ending("finished"),
        started=now,
        finished=now,
    )

    assert names(section("docs/output.md", "## report.json")) == list(report_keys(report))


@pytest.mark.parametrize(
    ("document", "heading"),
    [
        ("README.md", "## How it ended: verdict and exit code"),
        ("README.zh-CN.md", "## 结果如何：结论和退出码"),
        ("docs/output.md", "## Verdict and exit code"),
    ],
)
def test_every_verdict_is_documented_with_its_exit_code(document: str, heading: str) -> None:
    table = {bare(row[0]): int(row[1]) for row in rows(section(document, heading))}

    assert table == {**EXIT_CODES, "": EXIT_USAGE}


def test_architecture_page_lists_the_meanings_of_answers() -> None:
    first_cells = names(section("docs/architecture.md", "## What an answer leads to"))
    documented = {re.split(r"\W", cell)[0] for cell in first_cells}
    errors = exceptions.PlatformError.__subclasses__()

    assert documented == {error.meaning for error in errors}


# --- Commands, code, links --------------------------------------------------------------------


def crawl_commands() -> Iterator[tuple[str, list[str]]]:
    """Every ``scrapy crawl`` in a code block, as words, with the document that shows it."""
    for document in DOCUMENTS:
        for block in re.findall(r"^```.*?^```", read(document), re.MULTILINE | re.DOTALL):
            for command in re.findall(r"scrapy crawl [a-z]+ -[^\n]*", block):
                yield document, shlex.split(command.partition(" || ")[0])


@pytest.mark.parametrize(("document", "words"), list(crawl_commands()))
def test_documented_commands_have_valid_arguments(
    document: str, words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = {
        option: dict(value.split("=", 1) for name, value in pairwise(words) if name == option)
        for option in ("-a", "-s")
    }
    monkeypatch.chdir(tmp_path)
    for value in given["-a"].values():
        if value.startswith("@"):
            Path(value[1:]).write_text("露营\n", "utf-8")

    SPIDERS[words[2]].check_arguments(CrawlArgs(**given["-a"]))
    assert set(given["-s"]) <= known_settings()


def test_the_readmes_show_commands() -> None:
    assert {"README.md", "README.zh-CN.md"} <= {document for document, _ in crawl_commands()}


def test_python_example_of_the_architecture_page_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    example = re.search(r"```python\n(.*?)```", read("docs/architecture.md"), re.DOTALL)
    assert example is not None
    note = {"display_title": "湖边的早晨", "interact_info": {"liked_count": "1.2万"}}
    items = [{"id": "66fad51c000000001b0224b8", "model_type": "note", "note_card": note}]
    answer = {"code": 0, "success": True, "data": {"has_more": True, "items": items}}
    (tmp_path / "answer.json").write_text(json.dumps(answer), "utf-8")
    monkeypatch.chdir(tmp_path)

    exec(example[1], {})

    assert capsys.readouterr().out == ("66fad51c000000001b0224b8 湖边的早晨 12000\nnext page: 2\n")


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives to the headings of a document."""
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def local_links() -> Iterator[tuple[str, str]]:
    for document in DOCUMENTS:
        for target in re.findall(r"\]\(([^)\s]+)\)", read(document)):
            if "://" not in target:
                yield document, target


@pytest.mark.parametrize(("document", "target"), list(local_links()))
def test_links_between_documents_lead_somewhere(document: str, target: str) -> None:
    path, _, anchor = target.partition("#")
    linked = (ROOT / document).parent / path if path else ROOT / document

    assert linked.exists()
    assert not anchor or anchor in anchors(linked.read_text("utf-8"))
