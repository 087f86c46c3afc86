# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Random expressions and templates over a few variables."""

NAMES = ["i", "n", "x", "t", "s", "e", "u", "l", "d", "m", "z", "none_at_all"]
FILTERS = ["trim", "length", "first", "last", "upper", "lower", "string", "list", "tojson", "join(',')", "join",
           "default('q')", "default('q', true)", "replace('a', 'bb')", "reverse", "sort", "unique|list", "items|list",
           "map('upper')|list", "map(attribute='a')|list", "selectattr('a')|list", "selectattr('a', '==', 1)|list",
           "rejectattr('a', 'defined')|list", "select('string')|list", "reject('number')|list", "int", "float", "abs",
           "round", "round(1)", "capitalize", "title", "indent(2)", "tojson(indent=2)", "count", "sum", "min", "max",
           "dictsort", "map('length')|list", "trim('a ')", "safe", "safe + '<a>'", "select|list", "int(3)", "tojson(sort_keys=true)",
           "tojson(ensure_ascii=true)", "tojson(separators=(',', ':'))"]
TESTS = ["defined", "undefined", "none", "string", "number", "integer", "float", "mapping", "iterable", "sequence",
         "boolean", "true", "false", "odd", "even", "divisibleby 3", "in [1, 'a']", "eq 1", "lower", "upper",
         "divisibleby(2)", "sameas none", "callable", "not none", "not defined", "equalto 'a'", "ne 2"]
METHODS = ["strip()", "lstrip()", "rstrip('a')", "split()", "split('a')", "split(',', 1)", "upper()", "lower()",
           "startswith('a')", "endswith(('a', ' '))", "replace('a', 'b')", "replace('', '-')", "title()",
           "capitalize()", "find('a')", "rfind('a')", "count('a')", "splitlines()", "rsplit(' ', 1)", "rsplit(None, 1)",
           "split(None, 1)", "isdigit()", "isspace()", "join(['x', 'y'])", "removeprefix('a')", "removesuffix('b')",
           "format(7, 'é', k=none)", "zfill(5)", "center(7)", "partition('a')", "index('a')", "keys()|list", "values()|list", "items()|list",
           "get('a')", "get('zz', 3)", "copy()", "append(1)", "pop()", "ljust(6, '.')", "rpartition('a')"]
OPERATORS = ["+", "-", "*", "/", "//", "%", "**", "~", "==", "!=", "<", "<=", ">", ">=", "and", "or", "in", "not in"]


def variables():
    return {"i": 7, "n": -3, "x": 2.5, "t": " a ab, b\n", "s": "abc", "e": "", "u": "é日😀 a", "l": [3, 1, "a", None, 2],
            "d": {"a": 1, "b": "x", "items": [1]}, "m": [{"a": 1, "b": "é"}, {"a": 0}, {"b": 2}], "z": None, "y": True}


def literal(draw):
    return draw.choice(["0", "1", "-2", "3", "1.5", "1e3", "'a'", "'x y'", '"it\'s"', "'\\n'", "'é'", "true", "none", "[]", "{}",
                        "[1, 2, 3]", "['b', 'A', 'c']", "{'a': 1, 'k': [1]}", "(1, 'x')", "(2,)", "'a' 'b'", "'{}{{{}}}'", "'{1}-{0} {k}'", "'{ '", "100000000000",
                        "0.1", "1e16", "1e-5", "123456.789"])


def expression(draw, depth):
    if depth == 0 or draw.random() < 0.15:
        return draw.choice(NAMES) if draw.random() < 0.6 else literal(draw)

    def inner():
        return expression(draw, depth - 1)

    kind = draw.randrange(12)
    if kind < 2:
        return f"({inner()}) {draw.choice(OPERATORS)} ({inner()})"
    if kind == 2:
        return f"{inner()} {draw.choice(OPERATORS)} {inner()}"
    if kind < 5:
        return f"({inner()})|{draw.choice(FILTERS)}"
    if kind == 5:
        return f"{inner()} is {draw.choice(TESTS)}"
    if kind < 8:
        return f"({inner()}).{draw.choice(METHODS)}"
    if kind == 8:
        bounds = [draw.choice(["", "0", "1", "-1", "2", "-3", "9", "none"]) for _ in range(draw.randrange(2, 4))]
        return f"({inner()})[{':'.join(bounds)}]"
    if kind == 9:
        return f"({inner()})[{draw.choice(['0', '-1', '1', inner()])}]"
    if kind == 10:
        return f"({inner()}).{draw.choice(['a', 'b', 'items', '0', 'zz', 'upper'])}"
    return draw.choice([f"{inner()} if {inner()} else {inner()}", f"not {inner()}", f"-{inner()}", f"[{inner()}, {inner()}]",
                        f"{{'k': {inner()}, {inner()}: 1}}", f"{inner()} if {inner()}", f"range({inner()})|list",
                        f"dict(a={inner()})", f"({inner()}, {inner()})", f"{inner()} < {inner()} < {inner()}"])


def spaced_template(draw):
    """Loops, branches, assignments, comments and raw text with random white space and signs."""
    def space():
        return "".join(draw.choice([" ", "\n", "\t", "", "", "a", "\r\n", "\n\n", "  "]) for _ in range(draw.randrange(5)))

    def sign(block=True):
        return draw.choice(["", "", "-", "+" if block else ""])

    def tag(inside):
        return "{%" + sign() + " " + inside + " " + sign() + "%}"

    def part(depth):
        kind = draw.randrange(9 if depth > 0 else 4)
        if kind == 0:
            return "{{" + sign() + " " + draw.choice(["i", "s", "t", "e", "v", "loop.index", "d['a']"]) + " " + sign(False) + "}}"
        if kind == 1:
            return "{#" + sign() + space() + draw.choice(["", "{{ x }}", "- "]) + sign() + "#}"
        if kind == 2:
            return tag("set v = " + draw.choice(["1", "i + 1", "'w'", "v ~ 'z'"]))
        if kind == 3:
            return "{%" + sign() + " raw " + draw.choice(["", "-"]) + "%}" + space() + "{{ q }}" + space() + tag("endraw")
        body = body_of(depth - 1)
        if kind == 4:
            return tag("if " + draw.choice(["i", "e", "v == 1", "z is none"])) + body + tag("else") + body_of(depth - 1) + tag("endif")
        if kind == 5:
            more = draw.choice(["", "", tag("break"), tag("if loop.last") + tag("continue") + tag("endif")])
            return tag("for q in " + draw.choice(["l", "range(3)", "[]", "s", "d", "m if q.a"])) + body + more + tag(
                "else") + "E" + tag("endfor")
        if kind == 6:
            return tag("set v") + body + tag("endset")
        if kind == 7:
            return tag("with v = 3, w = v") + body + tag("endwith")
        return tag("filter upper") + body + tag("endfilter")

    def body_of(depth):
        return space() + "".join(part(depth) + space() for _ in range(draw.randrange(4)))

    return "".join(part(2) + space() for _ in range(draw.randrange(1, 4)))
