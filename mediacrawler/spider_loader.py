"""The spider loader (SPIDER_LOADER_CLASS): imports a spider when it is asked for.

Scrapy's own imports every spider at the start of every command. One platform's module brings
what reads and signs its answers, which the crawl of another one has no use for.
"""

from __future__ import annotations

from functools import cached_property
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from scrapy.spiderloader import SpiderLoader
from scrapy.utils.spider import iter_spider_classes

if TYPE_CHECKING:
    import builtins

    from scrapy import Request, Spider
    from scrapy.settings import BaseSettings
    from typing_extensions import Self


class LazySpiderLoader:
    """Looks for a spider in the module of its name, and only then, as for a list, in all."""

    def __init__(self, settings: BaseSettings) -> None:
        self._settings = settings

    @classmethod
    def from_settings(cls, settings: BaseSettings) -> Self:
        return cls(settings)

    @cached_property
    def _everything(self) -> SpiderLoader:
        return SpiderLoader.from_settings(self._settings)

    def load(self, spider_name: str) -> type[Spider]:
        """The class of a spider.

        :raises KeyError: there is none of this name.
        """
        for package in self._settings.getlist("SPIDER_MODULES"):
            module = f"{package}.{spider_name}"
            if spider_name.isidentifier() and find_spec(module):
                for spider_class in iter_spider_classes(import_module(module)):
                    if spider_class.name == spider_name:
                        return spider_class
        return self._everything.load(spider_name)

    def list(self) -> list[str]:
        """The names of all spiders; a module that cannot be imported raises its error."""
        return self._everything.list()

    def find_by_request(self, request: Request) -> builtins.list[str]:
        """The names of the spiders whose domains *request* belongs to."""
        return self._everything.find_by_request(request)
