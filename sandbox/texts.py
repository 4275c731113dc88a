"""Invented Chinese names and texts. Nothing here was ever written by a real person."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sandbox.worlds import Dice  # worlds speak these texts


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


PROVINCES = _words(
    "北京 上海 广东 浙江 江苏 四川 湖北 湖南 山东 福建 陕西 云南 重庆 河南 辽宁 广西 安徽 "
    "天津 贵州 海南 中国香港 中国台湾 日本 美国 新加坡"
)

_NAME_HEADS = _words(
    "橘子 小满 阿南 青柠 木棉 云朵 晚风 南山 豆包 米糕 栗子 石榴 白露 半夏 海盐 松果 薄荷 "
    "桃酥 阿茶 小北 春卷 泡泡 山雀 茉莉 芝士 柚子 冬笋 小鹿 鲸落 七月"
)
_NAME_TAILS = _words(
    "的日常 爱喝汤 在路上 慢慢走 不加班 收集员 看世界 小厨房 笔记本 同学 来信 想躺平 "
    "不吃香菜 的周末 在种花 养猫记 去哪儿 好好吃饭 跑不动 电台"
)
_NAME_MARKS = ("", "", "", "", "🌿", "🍊", "☁️", "_", "～", "✨", "Lily", "88", "｜穷游版", " ᵕ̈")

TOPICS: dict[str, tuple[str, ...]] = {
    "露营": ("帐篷", "天幕", "营地", "炊具", "睡袋", "露营灯", "折叠椅"),
    "咖啡": ("手冲", "拿铁", "豆子", "磨豆机", "咖啡馆", "冷萃", "拉花"),
    "旅行": ("高铁票", "民宿", "路线", "古镇", "海边", "行李", "攻略"),
    "美食": ("火锅", "早餐", "甜品", "小馆子", "菜市场", "空气炸锅", "家常菜"),
    "穿搭": ("外套", "牛仔裤", "帆布鞋", "毛衣", "配色", "衬衫", "围巾"),
    "健身": ("深蹲", "拉伸", "跑步", "蛋白粉", "瑜伽垫", "体脂", "训练计划"),
    "摄影": ("胶片", "构图", "镜头", "日落", "人像", "后期", "街拍"),
    "读书": ("书单", "笔记", "图书馆", "小说", "书店", "纸质书", "书签"),
    "家居": ("收纳", "窗帘", "沙发", "台灯", "绿植", "地毯", "出租屋改造"),
    "宠物": ("猫砂", "狗粮", "驱虫", "猫爬架", "遛狗", "冻干", "掉毛"),
}
"""Words of a topic; the key is the keyword that finds it."""

_TITLE_FORMS = (
    "{a}新手必看！{b}到底怎么选",
    "第{n}次{t}，终于不踩坑了",
    "{t}｜{b}清单都在这里了📝",
    "被问了{n}遍的{b}，一次说清楚",
    "周末{t}小记🌤️",
    "{n}块钱搞定{b}，真的够用",
    "给懒人的{t}指南✅",
    "后悔没早点知道的{b}小技巧‼️",
    "{a}和{b}，我选后者",
    "一个人的{t}日记 vol.{n}",
)
_SENTENCES = (
    "上周和朋友去试了一下{b}，比想象中轻松",
    "先说结论：{a}别买太贵的",
    "踩过的坑都写在图里了👉",
    "{b}建议提前一天准备，不然会手忙脚乱",
    "预算大概{n}元，可以再省",
    "如果只带一样东西，我会选{a}",
    "天气好的时候真的很治愈☀️",
    "评论区告诉我你们的{b}是什么牌子",
    "有问题可以问我，看到都会回",
    "不是广告，自己花钱买的",
    "拍照时间是下午四点，光线刚刚好📷",
    "早上七点出门，{n}分钟就到了",
)
EMOJI = ("😂", "👍", "🥹", "❤️", "🔥", "🎉", "😭", "✨")
_COMMENTS = (
    "收藏了，下次照着做",
    "请问{b}是在哪里买的呀",
    "同款{a}，用了{n}个月没坏",
    "写得好详细，谢谢分享",
    "我去的时候人超级多……",
    "这个季节去合适吗？",
    "{n}块？我买贵了",
    "已经在路上了",
    "蹲一个链接",
    "第二张图好好看",
    "本地人表示很实在",
    "求问{a}怎么清洗",
    "哈哈哈哈哈哈",
    "姐妹你是我的嘴替",
    "不太同意，{b}还是要买好一点的",
    "试过了，真的可以\n就是有点重",
)
_REPLIES = (
    "在{p}买的，不贵",
    "谢谢喜欢～",
    "可以的，我就是{n}月去的",
    "同问",
    "已回复你啦",
    "对对对就是这个",
    "那我再看看吧",
    "不客气，有问题再问我",
    "我也遇到了一样的问题",
    "好的收到",
    "真的吗？太好了",
)
_BIOS = (
    "慢慢记录，好好生活",
    "{p}｜喜欢{t}",
    "不定期更新{t}和{u}📮\n合作请私信",
    "普通上班族的{t}记录",
    "世界很大，先去楼下走走",
    "",
)


def nickname(dice: Dice) -> str:
    """A screen name such as "晚风的日常🌿"."""
    return dice.pick(_NAME_HEADS) + dice.pick(_NAME_TAILS) + dice.pick(_NAME_MARKS)


def topic_of(keyword: str, dice: Dice) -> str:
    """The topic that *keyword* speaks of; any other keyword gets one of the known topics."""
    return keyword if keyword in TOPICS else dice.pick(sorted(TOPICS))


_TOPIC_NAMES = tuple(sorted(TOPICS))


def _fill(form: str, topic: str, dice: Dice) -> str:
    if "{" not in form:
        return form
    words = TOPICS[topic]
    throw = dice.below(1 << 40)
    first = throw % len(words)
    second = (first + 1 + throw // 8 % (len(words) - 1)) % len(words)
    return form.format(
        t=topic,
        u=_TOPIC_NAMES[throw // 64 % len(_TOPIC_NAMES)],
        a=words[first],
        b=words[second],
        n=2 + throw // 1024 % 98,
        p=PROVINCES[throw // (1 << 20) % len(PROVINCES)],
    )


def title(topic: str, dice: Dice) -> str:
    return _fill(dice.pick(_TITLE_FORMS), topic, dice)


def paragraphs(topic: str, dice: Dice, count: int, emotes: Sequence[str] = EMOJI) -> list[str]:
    """*count* different sentences, some with one of *emotes* (the platform's own codes)."""
    forms = dice.some(_SENTENCES, count)
    return [
        _fill(form, topic, dice) + (dice.pick(emotes) if dice.chance(30) else "") for form in forms
    ]


def comment(topic: str, dice: Dice, emotes: Sequence[str] = EMOJI) -> str:
    text = _fill(dice.pick(_COMMENTS), topic, dice)
    return text + dice.pick(emotes) if dice.chance(35) else text


def reply(topic: str, dice: Dice, emotes: Sequence[str] = EMOJI) -> str:
    text = _fill(dice.pick(_REPLIES), topic, dice)
    return text + dice.pick(emotes) if dice.chance(25) else text


def bio(topic: str, dice: Dice) -> str:
    """A line of self-description, sometimes empty."""
    return _fill(dice.pick(_BIOS), topic, dice)
