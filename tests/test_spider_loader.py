"""The spider loader: one platform's crawl imports no other platform, and hides no error."""

import sys

import pytest
from scrapy import Request
from scrapy.settings import Settings
from scrapy.spiderloader import SpiderLoader, get_spider_loader
from scrapy.utils.project import get_project_settings

from mediacrawler.spider_loader import LazySpiderLoader

SPIDER = """
from scrapy import Spider

class Example(Spider):
    name = "{name}"
    allowed_domains = ["{name}.example"]
"""


@pytest.fixture
def loader(tmp_path, monkeypatch):
    """A loader of the package ``some_spiders``, with the spiders red, green and dark-blue."""
    package = tmp_path / "some_spiders"
    package.mkdir()
    (package / "__init__.py").touch()
    (package / "base.py").write_text("from scrapy import Spider")
    for module, name in (("red", "red"), ("green", "green"), ("shades", "dark-blue")):
        (package / f"{module}.py").write_text(SPIDER.format(name=name))
    monkeypatch.syspath_prepend(tmp_path)
    yield LazySpiderLoader.from_settings(Settings({"SPIDER_MODULES": ["some_spiders"]}))
    for name in imported():
        del sys.modules[name]


def imported():
    return {name for name in sys.modules if name.startswith("some_spiders")}


def test_a_spider_is_imported_alone(loader):
    assert loader.load("red").name == "red"
    assert imported() == {"some_spiders", "some_spiders.red"}


def test_all_spiders_are_listed(loader):
    assert sorted(loader.list()) == ["dark-blue", "green", "red"]


def test_a_spider_in_a_module_of_another_name_is_found(loader):
    assert loader.load("dark-blue").__module__ == "some_spiders.shades"


def test_a_spider_is_found_by_the_domain_of_a_request(loader):
    assert loader.find_by_request(Request("https://green.example/1")) == ["green"]


@pytest.mark.parametrize("name", ["blue", "shades", "base", "", "red.x", ".red", "../red", "class"])
def test_a_name_that_no_spider_has_is_a_key_error(loader, name):
    with pytest.raises(KeyError, match="Spider not found"):
        loader.load(name)


def test_a_broken_module_is_in_nobodys_way_but_not_hidden(loader, tmp_path):
    (tmp_path / "some_spiders" / "green.py").write_text("import nothing_of_this_name")
    assert loader.load("red").name == "red"
    for look in (lambda: loader.load("green"), loader.list, lambda: loader.load("dark-blue")):
        with pytest.raises(ModuleNotFoundError, match="nothing_of_this_name"):
            look()


def test_the_project_uses_it_and_has_the_same_spiders():
    settings = get_project_settings()
    loader = get_spider_loader(settings)
    assert isinstance(loader, LazySpiderLoader)
    everything = SpiderLoader.from_settings(settings)
    assert loader.list() == everything.list()
    for name in loader.list():
        assert loader.load(name) is everything.load(name)
        assert loader.load(name).__module__ == f"mediacrawler.spiders.{name}"
