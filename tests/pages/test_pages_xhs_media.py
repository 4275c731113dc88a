"""Which files of XHS are taken, and from where."""

import pytest
from xhs_fixtures import SIGNED, image, stream, video

from mediacrawler.pages import xhs_media

CI = "https://ci.xiaohongshu.com/"


@pytest.mark.parametrize(
    ("url", "token"),
    [
        (f"{SIGNED}/1040gaaa!nd_dft_wlteh_webp_3", "1040gaaa"),
        (f"{SIGNED}/notes_pre_post/1040gaaa!x", "notes_pre_post/1040gaaa"),
        (f"{SIGNED}/notes_uhdr/1040gaaa?imageView2/2/w/1080", "notes_uhdr/1040gaaa"),
        (f"{SIGNED}/spectrum/1040gaaa", "spectrum/1040gaaa"),
        (f"{SIGNED}/110/0/01e7d7_0.jpg!nc_n_webp_mw_1", "110/0/01e7d7_0.jpg"),
        ("https://sns-img-bd.xhscdn.com/1040gaaa!h5_1080jpg", "1040gaaa"),
        ("https://ci.xiaohongshu.com/1040gaaa?imageView2/format/jpeg", "1040gaaa"),
        ("https://i10.rednotecdn.com/notes_pre_post/1040gaaa!x", "notes_pre_post/1040gaaa"),
        ("https://picasso.example.com/1040gaaa", None),
        ("", None),
    ],
)
def test_the_token_of_a_picture_has_its_folders(url, token):
    assert xhs_media.picture_token(url) == token


def test_a_picture_is_its_original_with_other_addresses_in_reserve():
    media = xhs_media.picture(image("spectrum/1040gaaa"), "image")
    assert (media.kind, media.url) == ("image", f"{CI}spectrum/1040gaaa")
    assert media.backup_urls == [
        "https://sns-img-bd.xhscdn.com/spectrum/1040gaaa",
        "https://sns-img-qc.xhscdn.com/spectrum/1040gaaa",
        SIGNED.replace("http:", "https:") + "/spectrum/1040gaaa!nd_dft_wlteh_webp_3",
    ]
    assert (media.width, media.height, media.ext) == (1242, 1660, None)


def infos(**tokens):
    return {
        "info_list": [
            {"image_scene": scene, "url": f"{SIGNED}/{token}!x"} for scene, token in tokens.items()
        ]
    }


@pytest.mark.parametrize(
    ("record", "url"),
    [
        ({"url_default": "", "url": f"{SIGNED}/u!x"}, f"{CI}u"),
        (infos(WB_PRV="p", WB_DFT="d"), f"{CI}d"),
        (infos(FD_PRV_WEBP="p", FD_WM_WEBP="w"), f"{CI}w"),
        ({"infoList": [{"imageScene": "FD_WM_WEBP", "url": f"{SIGNED}/w!x"}]}, f"{CI}w"),
        (infos(WB_PRV="p"), f"{CI}p"),
        ({"urlSizeLarge": "http://sns-img-qc.xhscdn.com/l!h5_1080jpg"}, f"{CI}l"),
        ({"url_pre": f"{SIGNED}/p!x"}, f"{CI}p"),
        ({"url_default": "http://other.example/x.jpg"}, "https://other.example/x.jpg"),
    ],
)
def test_a_picture_is_found_wherever_its_address_stands(record, url):
    assert xhs_media.picture(record, "cover").url == url


def test_a_picture_without_address_is_missing():
    media = xhs_media.picture({"width": "720", "height": 0, "url": ""}, "image")
    assert (media.status, media.url, media.width, media.height) == ("missing", None, 720, None)


def test_a_live_clip_follows_its_picture():
    live = image("1040gaaa", live_photo=True, stream={"h264": [stream("clip", 720, 960)]})
    silent = image("1040gbbb", live_photo=True)
    still = image("1040gccc", stream={"h264": [stream("no")]})
    media = xhs_media.note_media({"image_list": [live, silent, still]}, is_video=False)
    assert [one.kind for one in media] == ["image", "live_photo", "image", "image"]
    assert media[1].url == "https://sns-bak-v1.xhscdn.com/clip.mp4"
    assert (media[1].width, media[1].height, media[1].ext) == (720, 960, "mp4")


def test_a_video_note_is_video_cover_and_further_pictures():
    record = {"video": video(), "image_list": [image("1040gaaa"), image("1040gbbb")]}
    media = xhs_media.note_media(record, is_video=True)
    assert [(one.kind, one.url) for one in media[1:]] == [
        ("cover", f"{CI}1040gaaa"),
        ("image", f"{CI}1040gbbb"),
    ]
    assert (media[0].kind, media[0].ext, media[0].duration_s) == ("video", "mp4", 24.386)
    assert (media[0].width, media[0].height) == (1280, 720)
    assert media[0].url == "https://sns-bak-v1.xhscdn.com/a.mp4"
    assert media[0].backup_urls == ["https://sns-video-ak.xhscdn.com/a.mp4?sign=00&t=67000000"]


def test_the_original_upload_is_better_than_any_stream():
    media = xhs_media.video(video(consumer={"origin_video_key": "pre_post/1040gkey"}))
    assert media.url == "https://sns-video-bd.xhscdn.com/pre_post/1040gkey"
    assert media.backup_urls[:2] == [
        "https://sns-video-qc.xhscdn.com/pre_post/1040gkey",
        "https://sns-video-hw.xhscdn.com/pre_post/1040gkey",
    ]
    assert media.backup_urls[-2] == "https://sns-bak-v1.xhscdn.com/a.mp4"
    assert (media.width, media.height, media.duration_s) == (None, None, 24.386)


MARKED = stream("marked", 1920, 1080, stream_desc="WM_X264_MP4", video_codec="h264")


@pytest.mark.parametrize(
    ("streams", "prefer", "chosen"),
    [
        ({"h264": [MARKED], "h265": [stream("clean")]}, None, "clean"),
        ({"h264": [MARKED]}, None, "marked"),
        ({"h264": [MARKED], "h265": [stream("clean")]}, "h264", "clean"),
        ({"h265": [stream("small"), stream("large", 1920, 1080)]}, None, "large"),
        ({"h265": [stream("poor"), stream("rich", avg_bitrate=2_000_000)]}, None, "rich"),
        ({"h264": [stream("a")], "h265": [stream("b", 1920, 1080)]}, "h264", "a"),
        ({"h264": [], "h265": [stream("b")]}, "h264", "b"),
        ({"x": [stream("a", video_codec="hevc"), stream("b", 1920, 1080)]}, "h265", "a"),
        (
            {
                "EF5": [stream("ef", video_codec="EF5", avg_bitrate=9_000_000)],
                "h265": [stream("b")],
            },
            None,
            "b",
        ),
        ({"EF5": [stream("ef", 1920, 1080)], "h265": [stream("b")]}, None, "ef"),
        (
            {"h265": [stream("none", 9, 9, master_url="", backup_urls=None), stream("b", 1, 1)]},
            None,
            "b",
        ),
    ],
)
def test_the_best_stream_of_all_buckets(streams, prefer, chosen):
    media = xhs_media.video({"media": {"stream": streams}}, prefer)
    assert media.url == f"https://sns-bak-v1.xhscdn.com/{chosen}.mp4"


def test_the_signed_address_is_used_where_there_is_no_other():
    only = stream("a", backup_urls=[None, ""])
    media = xhs_media.video({"media": {"stream": {"h265": [only]}}})
    assert media.url == "https://sns-video-ak.xhscdn.com/a.mp4?sign=00&t=67000000"


@pytest.mark.parametrize(
    ("record", "seconds"),
    [
        ({"media": {"video": {"duration": 25}}, "capa": {"duration": 23}}, 25.0),
        ({"capa": {"duration": "23"}}, 23.0),
        ({}, None),
    ],
)
def test_a_video_that_is_not_delivered_is_missing_but_known(record, seconds):
    media = xhs_media.video(record)
    assert (media.kind, media.status, media.url) == ("video", "missing", None)
    assert media.duration_s == seconds


@pytest.mark.parametrize(
    "details", [None, "", "{cut", "[]", '{"video":{"subtitles":{"zh":[{"url":""}]}}}', {}]
)
def test_a_video_without_subtitles(details):
    assert xhs_media.subtitles({"media_v2": details}) == []
