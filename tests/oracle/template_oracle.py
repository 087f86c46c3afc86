# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Compares rendered chat templates with jinja2's, byte for byte.

    template_oracle.py BINARY [--short] [--rounds N] [--seed S]

The families' templates over random conversations, tools and texts; then random
expressions and random white space around tags. Where jinja2 raises, `holdfast
template` must refuse; where it says that a construct is not read here, that is
counted and only the random expressions may hold some.
"""

import argparse
import datetime
import json
import random
import subprocess
import sys
import tempfile
import time
import warnings

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from template_families import FAMILIES
from template_random import expression, spaced_template, variables

WORDS = ["hello", "the", "  two ", "\n", "\t", "é", "日本", "😀", "'", '"', "\\", "<", "&", "{{", "{%",
         "</think>", "<think>", "<tool_response>", "</tool_response>", "\u2028", "\u00a0", "0"]


class Generation(jinja2.ext.Extension):
    """{% generation %}: what it holds, as the transformers library renders it."""

    tags = {"generation"}

    def parse(self, parser):
        line = next(parser.stream).lineno
        body = parser.parse_statements(["name:endgeneration"], drop_needle=True)
        return jinja2.nodes.CallBlock(self.call_method("held"), [], [], body).set_lineno(line)

    def held(self, caller):
        return caller()


def environment(now):
    def raise_exception(message):
        raise jinja2.exceptions.TemplateError(message)

    def tojson(x, ensure_ascii=False, indent=None, separators=None, sort_keys=False):
        return json.dumps(x, ensure_ascii=ensure_ascii, indent=indent, separators=separators,
                          sort_keys=sort_keys)

    made = ImmutableSandboxedEnvironment(
        trim_blocks=True, lstrip_blocks=True, extensions=[Generation, jinja2.ext.loopcontrols])
    made.filters["tojson"] = tojson
    made.globals["raise_exception"] = raise_exception
    made.globals["strftime_now"] = datetime.datetime.fromtimestamp(now).strftime
    return made


def text(draw):
    return "".join(draw.choice(WORDS) for _ in range(draw.randrange(6)))


def tool(draw):
    kinds = ["string", "number", "integer", "array", "object", "boolean"]

    def spec(depth):
        made = {"type": draw.choice(kinds)}
        if draw.random() < 0.5:
            made["description"] = text(draw)
        if made["type"] == "array" and draw.random() < 0.7:
            made["items"] = spec(depth + 1)
        if made["type"] == "object" and depth < 3 and draw.random() < 0.7:
            made["properties"] = {f"p{i}": spec(depth + 1) for i in range(draw.randrange(1, 3))}
            made["required"] = ["p0"]
        if made["type"] == "string" and draw.random() < 0.4:
            made["enum"] = ["a", "b"]
        if draw.random() < 0.3:
            made["nullable"] = True
        if draw.random() < 0.3:
            made["default"] = draw.choice([1, 2.5, "a", None, True, [1, "é"]]) if "enum" not in made else "a"
        return made

    return {"type": "function", "function": {
        "name": draw.choice(["f", "get_weather"]), "description": text(draw),
        "parameters": {"type": "object",
                       "properties": {f"a{i}": spec(0) for i in range(draw.randrange(3))},
                       "required": ["a0"]}}}


def call(draw):
    return {"role": "assistant", "content": text(draw), "tool_calls": [
        {"id": "call00001", "type": "function",
         "function": {"name": "f", "arguments": {text(draw): draw.choice([1, 1.5, "x", None, [True, {}]])}}}]}


def conversation(draw):
    messages = []
    if draw.random() < 0.4:
        messages.append({"role": "system", "content": text(draw)})
    for _ in range(draw.randrange(1, 5)):
        content = text(draw)
        if draw.random() < 0.1:
            content = [{"type": "text", "text": text(draw)}, {"type": "image"}]
        messages.append({"role": "user", "content": content})
        if draw.random() < 0.2:
            messages += [call(draw), {"role": "tool", "content": text(draw)}]
        if draw.random() < 0.9:
            messages.append({"role": "assistant", "content": text(draw)})
    made = {"messages": messages, "add_generation_prompt": draw.random() < 0.5,
            "bos_token": "<bos>", "eos_token": "</s>"}
    if draw.random() < 0.4:
        made["tools"] = [tool(draw) for _ in range(draw.randrange(1, 3))]
    elif draw.random() < 0.5:
        made["tools"] = None
    if draw.random() < 0.2:
        made["enable_thinking"] = draw.random() < 0.5
    return made


def expected(made, source, given):
    """The text, or None where jinja2 raises."""
    try:
        return made.from_string(source).render(**given)
    except Exception:  # whatever python raises is a refusal here
        return None


class Comparison:
    def __init__(self, binary, now):
        self.binary, self.now = binary, now
        self.made = environment(now)
        self.same = self.refused = self.unread = self.lenient = 0
        self.unread_words = {}

    def run(self, source, inputs, name, may_be_unread=False):
        wanted = [expected(self.made, source, given) for given in inputs]
        with tempfile.NamedTemporaryFile("w", suffix=".jinja", newline="", encoding="utf-8") as file:
            file.write(source)
            file.flush()
            done = subprocess.run(
                [self.binary, "template", "-t", file.name, "--json", "--time", str(self.now)],
                input="\n".join(json.dumps(given) for given in inputs).encode(),
                capture_output=True, check=False)
        lines = done.stdout.decode().split('\n')[:-1]
        if not lines and done.returncode in (1, 2):  # the template itself was refused
            code = "unsupported" if "unsupported" in done.stderr.decode() or "not read" in done.stderr.decode() else "corrupt"
            lines = [json.dumps({"error": code, "message": done.stderr.decode()})] * len(inputs)
        if len(lines) != len(inputs):
            raise SystemExit(f"{name}: exit code {done.returncode}\n{source}\n{done.stderr.decode()[-1000:]}")
        for given, want, line in zip(inputs, wanted, lines):
            got = json.loads(line)
            if want is not None and got.get("text") == want:
                self.same += 1
            elif want is None and "error" in got:
                self.refused += 1
            elif may_be_unread and want is None:
                self.lenient += 1  # nonsense that python refuses
                self.unread_words[source] = self.unread_words.get(source, 0) + 1
            elif may_be_unread and got.get("error") == "unsupported":
                self.unread += 1
                self.unread_words[got["message"]] = self.unread_words.get(got["message"], 0) + 1
            else:
                raise SystemExit(
                    f"{name} differs\n--- template\n{source}\n--- variables\n{json.dumps(given)}\n"
                    f"--- expected\n{want!r}\n--- got\n{got!r}")


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--short", action="store_true", help="fewer rounds")
    parser.add_argument("--rounds", type=int, help="conversations of each family, and random templates")
    parser.add_argument("--seed", type=int, help="default: 1 with --short, else the time")
    parser.add_argument("--verbose", action="store_true")
    arguments = parser.parse_args()
    rounds = arguments.rounds or (200 if arguments.short else 2000)
    warnings.simplefilter("ignore")  # python's remarks on random expressions
    seed = arguments.seed
    if seed is None:
        seed = 1 if arguments.short else int(time.time())
    print(f"seed {seed}", flush=True)
    draw = random.Random(seed)
    comparison = Comparison(arguments.binary, 1_760_000_000)
    for name, source in FAMILIES.items():
        comparison.run(source, [conversation(draw) for _ in range(rounds)], name)
        assert comparison.same > 0, name
    print(f"families: {comparison.same} equal, {comparison.refused} refused by both", flush=True)
    comparison.same = comparison.refused = 0
    for i in range(rounds):
        comparison.run("{{ " + expression(draw, 3) + " }}", [variables()], f"expression {i}", True)
        comparison.run(spaced_template(draw), [variables()], f"white space {i}")
    print(f"random: {comparison.same} equal, {comparison.refused} refused by both, "
          f"{comparison.unread} not read here, {comparison.lenient} refused by jinja2 alone", flush=True)
    if arguments.verbose:
        for message, count in sorted(comparison.unread_words.items(), key=lambda item: -item[1])[:20]:
            print(count, message)
    if max(comparison.unread, comparison.lenient) > comparison.same / 10:
        sys.exit("too much is not read here, or is not refused")


if __name__ == "__main__":
    main()
