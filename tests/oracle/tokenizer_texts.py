# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Texts for the tokenizer's oracle, generated from fixed seeds."""

import random

WORDS = """
the of and to in is that it was for on are as with his they at be this from have or by one had not but what all
were when we there can an your which their said if do will each about how up out them then she many some so these
would other into has more her two like him see time could no make than first been its who now people my made over
did down only way find use may water long little very after words called just where most know through back much
memory state block prefix token cache window layer attention kernel restart restored sequence Monday London Paris
don't it's we'll they've re-use state-of-the-art e.g. i.e. HTTP/2 x86_64 GPU 3.14159 1,000,000 2026 0xDEADBEEF
Straße über können Mädchen größer weiß Donaudampfschifffahrt où être château garçon naïve cœur niño mañana señor
corazón você não coração perché città così zażółć gęślą jaźń příliš žluťoučký kůň İstanbul ışık tiếng Việt đường
привет мир состояние память Київ щось Ελληνικά μνήμη κατάσταση שלום עולם זיכרון مرحبا بالعالم ذاكرة سلام حافظه
नमस्ते दुनिया स्मृति বাংলা ভাষা தமிழ் மொழி తెలుగు ಕನ್ನಡ ไทย ภาษา หน่วยความจำ ខ្មែរ မြန်မာ ქართული հայերեն አማርኛ
你好 世界 状态 缓存 我们 可以 這是 繁體 中文 日本語 こんにちは カタカナ 状態 한국어 안녕하세요 상태 🙂 🎉 👩‍👩‍👧‍👦 🇩🇪 👍🏽 ❤️ ✓ → ∑ ∞ ½ ﬁ № ™
""".split()

MARKUP = ["<b>", "</b>", "<br>", "<td>", "</td>", "<table>", "</table>", "<h1>", "</h1>", "<s>", "</s>", "<strong>", "<em>",
          "<li>", "</ul>", "<div>", "<div class='x'>", "<a>", "[multimodal]", "<start_of_image>", "<B>", "< b>"]
NAMES = ["<bos>", "<eos>", "<pad>", "<unk>", "<mask>", "<unused7>", "<start_of_turn>", "<end_of_turn>", "<0x41>",
         "<0x0A>", "</s", "<|im_end|>"]
CODE = [
    "for (int i = 0; i < n; ++i) {\n    sum += a[i] * b[i];\n}\n",
    "def f(x, *args, **kw):\n\treturn {k: v for k, v in kw.items() if v != x}\n",
    '{"id": 17, "text": "a\\nb", "list": [1, 2.5e-3, null, true]}\n',
    "SELECT name, COUNT(*) FROM t WHERE a >= 10 GROUP BY 1;\n",
    "if [ \"$x\" -lt 10 ]; then echo \"${y%%.*}\" >> /tmp/out; fi\n",
    "template <class T>\nconstexpr auto f(T&& t) -> decltype(auto) { return std::forward<T>(t); }\n",
    "\\frac{1}{\\sqrt{2\\pi}} \\int_{-\\infty}^{x} e^{-t^2/2}\\,dt\n",
]
SPACES = [" ", " ", " ", "  ", "   ", " " * 7, " " * 31, " " * 32, " " * 65, "\t", "\t\t", "\t" * 33, "\n", "\n\n",
          "\n" * 3, "\n" * 31, "\n" * 40, "\r\n", " \n", "\n ", "\t ", " \t", "\u00a0", "\u3000", "\u200b", "\v", "\0"]


def word(source):
    text = source.choice(WORDS)
    kind = source.random()
    if kind < 0.1:
        return text.capitalize()
    if kind < 0.15:
        return text.upper()
    if kind < 0.2:
        return text + source.choice(WORDS)
    if kind < 0.25:
        return str(source.randrange(10 ** source.randrange(1, 12)))
    if kind < 0.28:
        letters = "abcdefghijklmnopqrstuvwxyz"
        return "".join(source.choice(letters) for _ in range(source.randrange(1, 30)))
    return text


def sentence(source):
    words = [word(source) for _ in range(source.randrange(3, 18))]
    return " ".join(words) + source.choice([".", "!", "?", ",", ";", ":", "...", "\u2026", "\u3002", ""])


def sentences(count):
    source = random.Random(11)
    return [sentence(source) for _ in range(count)]


def varied_text(size):
    """At least `size` bytes: prose in many scripts, code, markup, white space."""
    source = random.Random(12)
    parts = []
    total = 0
    while total < size:
        kind = source.random()
        if kind < 0.6:
            part = sentence(source)
        elif kind < 0.7:
            part = source.choice(CODE)
        elif kind < 0.85:
            part = source.choice(MARKUP if source.random() < 0.7 else NAMES)
        else:
            part = word(source)
        part += source.choice(SPACES) if source.random() < 0.8 else ""
        parts.append(part)
        total += len(part.encode())
    return "".join(parts)


def random_utf8(size):
    """At least `size` bytes: any points, a quarter each of 1, 2, 3 and 4 bytes."""
    source = random.Random(13)
    ranges = [(0, 0x7F), (0x80, 0x7FF), (0x800, 0xFFFF), (0x10000, 0x10FFFF)]
    points = []
    total = 0
    while total < size:
        point = source.randint(*source.choice(ranges))
        if 0xD800 <= point <= 0xDFFF or point == 0x2581:
            continue
        points.append(chr(point))
        total += len(points[-1].encode())
    return "".join(points)


def edge_texts():
    return ["", " ", "  ", "a", " a", "a ", "  a  ", "\n", "\t", "\0", "Hello, world!", "aaaaaaaaaaaaaaaaaaaaaaa",
            " " * 100, "\n" * 100, "\t" * 100, "<b>", "a<b>b</b>c", "<b><b>", "< b >", "<<b>>", "".join(NAMES),
            "\ufeffa", "e\u0301", "\u00e9", "👩‍👩‍👧‍👦", "\U0010FFFF", "日本語", "a\u00a0b", "x = 1\r\ny = 2\r\n"]
