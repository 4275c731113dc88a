"""Every setting of the project; ``docs/settings.md`` explains them, ``-s NAME=value`` overrides.

What depends on another setting (CONCURRENT_REQUESTS on MAX_CONCURRENCY_NUM, FEEDS on
EXPORT_FORMATS) is worked out by the add-on in ``mediacrawler/addons.py``.
"""

BOT_NAME = "mediacrawler"
SPIDER_MODULES = ["mediacrawler.spiders"]
SPIDER_LOADER_CLASS = "mediacrawler.spider_loader.LazySpiderLoader"
NEWSPIDER_MODULE = "mediacrawler.spiders"
COMMANDS_MODULE = "mediacrawler.commands"
ADDONS = {"mediacrawler.addons.MediaCrawlerAddon": 100}

# --- Concurrency and politeness -----------------------------------------------------------
# The one knob: requests in flight at most, media included. Unless DOWNLOAD_DELAY is set, N in
# flight also means about N requests a second. XHS_MAX_CONCURRENCY and the like override it for
# one platform, an explicit CONCURRENT_REQUESTS beats both.
MAX_CONCURRENCY_NUM = 1
DOWNLOAD_DELAY_JITTER = 0.5  # each delay is 0.5 to 1.5 times DOWNLOAD_DELAY
DEFAULT_REQUEST_HEADERS = {
    "Accept": "application/json, text/plain, */*",
    "Accept-Language": "zh-CN,zh;q=0.9",
}
DOWNLOAD_TIMEOUT = 30  # seconds without an answer (for a file being streamed: without a byte)
ROBOTSTXT_OBEY = False  # the addresses are those of the platforms' own apps, not pages for robots

# --- Back-off -----------------------------------------------------------------------------
RETRY_TIMES = 8  # more attempts at one request before it counts as failed
BACKOFF_BASE = 1.0  # seconds; the n-th wait is random between 0 and BASE * 2**(n-1)
BACKOFF_MAX = 300.0  # seconds; no wait is longer, except where the platform asks for it
BACKOFF_GIVE_UP = 8  # pauses in a row without one good answer in between: the crawl stops
BACKOFF_LONGEST_RETRY_AFTER = 3600.0  # seconds; asked to wait longer than this, the crawl stops

# --- Session ------------------------------------------------------------------------------
# Cookies come from the environment variable <PLATFORM>_COOKIES or from this file; they are
# never an argument. See README, "The first real crawl".
COOKIES_DIR = "cookies"  # cookies/xhs.txt (or .json) unless <PLATFORM>_COOKIES_FILE names a file
SESSIONS_DIR = "sessions"  # what `scrapy login` stores, as secret as passwords (docs/accounts.md)
USER_AGENT = (
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) "
    "Chrome/140.0.0.0 Safari/537.36"
)

SESSION_COOLDOWN = 21600.0  # seconds that a stored session rests after a captcha or a flag
SESSION_COOLDOWN_RATE = 3600.0  # seconds that it rests after a 429 that did not end

# --- Proxies (docs/proxies.md) ------------------------------------------------------------
# Each session has one proxy and keeps it while it works. A proxy stored with a session goes
# before these; with neither, the environment's http_proxy and https_proxy hold.
PROXIES = None  # a list, text separated by commas, or "@proxies.txt" (one a line; keeps secrets)
PROXY_PROVIDER_URL = None  # an address that answers with fresh proxies, as lines or JSON lines
PROXY_PROVIDER_COMMAND = None  # a command that prints them, run without a shell
PROXY_COOLDOWN = 60.0  # seconds that a failed proxy rests; twice as long each time, then for good

# --- Browser (logins, challenge pages) -----------------------------------------------------
CHROMIUM_PATH = None  # a path or command; None: Playwright's own, else the system's
BROWSER_FALLBACK = True  # a page that only a browser gets is opened in one, once
ASK_FOR_HELP = True  # at a terminal with a display: a captcha opens a window, the crawl waits
BROWSER_FALLBACK_SECONDS = 15.0  # so long such a page has to become what was asked for

# --- Records and files --------------------------------------------------------------------
SAVE_DATA_PATH = "data"
EXPORT_FORMATS = ["jsonl"]  # jsonl, json, csv
ANONYMIZE = True  # author ids become keyed hashes, names are masked (docs/output.md)
COMMENT_MEDIA = True  # `-a media` holds for pictures in comments too; False: for posts only
FFMPEG = None  # joins pictures and sound of a video; a path; None: that of the PATH, "": off

# --- Sandbox ------------------------------------------------------------------------------
SANDBOX_URL = None  # http://127.0.0.1:8787 sends every request to `python -m sandbox`

# --- Platforms ----------------------------------------------------------------------------
XHS_REGION = "cn"  # cn: xiaohongshu.com, rednote: the international twin rednote.com
XHS_SEARCH_API = "v2"  # v2: so.xiaohongshu.com, v1: edith.xiaohongshu.com
XHS_TRANSPORT = "http"  # http, or page: the site's own page in a browser sends and signs
XHS_VIDEO_CODEC = None  # h264, h265 or av1: preferred where there is a choice; None: the best

BILIBILI_MAX_QUALITY = 127  # the best; 80: 1080p, 64: 720p, 32: 480p, 16: 360p
BILIBILI_SUBTITLES = False  # subtitle files of videos (with a login)
BILIBILI_DANMAKU = False  # danmaku files of videos (needs ANONYMIZE=False)

# --- Scrapy parts that the project replaces or arranges -----------------------------------
DOWNLOADER_MIDDLEWARES = {
    # The user agent is the session's; links are not followed and nothing has a password, so
    # these would look at every request for nothing.
    "scrapy.downloadermiddlewares.offsite.OffsiteMiddleware": None,
    "scrapy.downloadermiddlewares.httpauth.HttpAuthMiddleware": None,
    "scrapy.downloadermiddlewares.useragent.UserAgentMiddleware": None,
    # Answers are judged by what they mean, in one place; redirects are judged, not followed.
    "scrapy.downloadermiddlewares.retry.RetryMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.RedirectMiddleware": None,
    "scrapy.downloadermiddlewares.redirect.MetaRefreshMiddleware": None,
    "mediacrawler.middlewares.SessionMiddleware": 540,
    "mediacrawler.middlewares.BackoffMiddleware": 550,  # pauses are those of a session
    "mediacrawler.browser_fallback.BrowserFallbackMiddleware": 555,
    "mediacrawler.proxies.middleware.ProxyMiddleware": 580,  # needs the session; goes before 750
    "mediacrawler.middlewares.KeepLoginMiddleware": 710,
    # CookiesMiddleware stands at 700; signing reads the cookies that will be sent.
    "mediacrawler.middlewares.SigningMiddleware": 720,
}
SPIDER_MIDDLEWARES = {
    # The status has been judged, a Referer is the platform's business, and links are not followed
    # by depth: each of these would look at every single record for nothing.
    "scrapy.spidermiddlewares.httperror.HttpErrorMiddleware": None,
    "scrapy.spidermiddlewares.referer.RefererMiddleware": None,
    "scrapy.spidermiddlewares.urllength.UrlLengthMiddleware": None,
    "scrapy.spidermiddlewares.depth.DepthMiddleware": None,
}
DOWNLOAD_HANDLERS = {
    "http": "mediacrawler.handlers.DownloadHandler",
    "https": "mediacrawler.handlers.DownloadHandler",
}
ITEM_PIPELINES = {
    "mediacrawler.pipelines.ValidationPipeline": 100,
    "mediacrawler.pipelines.PrivacyPipeline": 200,
    "mediacrawler.pipelines.DuplicatesPipeline": 300,
    "mediacrawler.pipelines.MediaPipeline": 400,
}
EXTENSIONS = {
    "mediacrawler.extensions.CrawlReport": 100,
    "mediacrawler.extensions.Progress": 200,
    "scrapy.extensions.logstats.LogStats": None,
}
FEED_EXPORTERS = {
    "jsonl": "mediacrawler.feeds.JsonLinesRecordExporter",
    "json": "mediacrawler.feeds.JsonRecordExporter",
    "csv": "mediacrawler.feeds.CsvRecordExporter",
}
FEED_STORAGES = {
    "": "mediacrawler.feeds.SafeFileStorage",  # a plain path
    "file": "mediacrawler.feeds.SafeFileStorage",
}
FEED_EXPORT_ENCODING = "utf-8"
DUPEFILTER_CLASS = "scrapy.dupefilters.BaseDupeFilter"  # the ledger knows each post and page
# Scrapy starts so many tasks for what each answer yields, however little that is.
CONCURRENT_ITEMS = 8
WARN_ON_GENERATOR_RETURN_VALUE = False  # it reads and parses source code at every answer
# Posts are opened in the order of their list; priorities put lists and comments first.
SCHEDULER_MEMORY_QUEUE = "scrapy.squeues.FifoMemoryQueue"
SCHEDULER_DISK_QUEUE = "scrapy.squeues.PickleFifoDiskQueue"
TELNETCONSOLE_ENABLED = False
REMOTE_CONTROL_ENABLED = False  # no open port unless somebody asks for it
STATS_DUMP = False  # the summary and report.json say it in words
LOG_LEVEL = "INFO"
LOG_VERSIONS: list[str] = []
