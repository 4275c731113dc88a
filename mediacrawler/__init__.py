"""A Scrapy project that collects public posts, comments and creator profiles."""
