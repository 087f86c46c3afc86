# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Compares rendered chat templates with jinja2's, byte for byte.

    template_oracle.py BINARY [--short] [--rounds N] [--seed S] [--templates FOLDER]

The families' templates over random conversations, tools and texts; then random
expressions and random white space around tags. Where jinja2 raises, `holdfast
template` must refuse; where it says that a construct is not read here, that is
counted and only the random expressions may hold some.

With --templates, only the *.jinja files of a folder, such as the published ones
that come with llama.cpp's source; those of families that are not here may hold
what is not read.
"""

import argparse
import datetime
import json
import pathlib
import random
import re
import subprocess
import sys
import tempfile
import time
import warnings

import jinja2
import jinja2.ext
from jinja2.sandbox import ImmutableSandboxedEnvironment

from template_conversations import conversation
from template_families import FAMILIES
from template_random import expression, spaced_template, variables

# Of published templates, those whose families are here.
OURS = re.compile(r"(meta-llama|(unsloth-)?mistral|google-gemma-[23]|microsoft-phi|qwen|openai-gpt-oss)", re.IGNORECASE)
ADDRESS = re.compile(r" at 0x[0-9a-f]{6,}>")


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


def expected(made, source, inputs):
    """The text of each, or None where jinja2 raises: whatever python raises is a refusal here."""
    try:
        template = made.from_string(source)
    except Exception:
        return [None] * len(inputs)
    texts = []
    for given in inputs:
        try:
            text = template.render(**given)
        except Exception:
            text = None
        # An address of a function is another in every run.
        texts.append(None if text is not None and ADDRESS.search(text) else text)
    return texts


class Comparison:
    def __init__(self, binary, now):
        self.binary, self.now = binary, now
        self.made = environment(now)
        self.same = self.refused = self.unread = self.lenient = 0
        self.unread_words = {}

    def run(self, source, inputs, name, may_be_unread=False, may_be_lenient=False):
        wanted = expected(self.made, source, inputs)
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
            elif may_be_lenient and want is None:
                self.lenient += 1  # nonsense that python refuses
                self.unread_words[source] = self.unread_words.get(source, 0) + 1
            elif may_be_unread and got.get("error") == "unsupported":
                self.unread += 1
                self.unread_words[got["message"]] = self.unread_words.get(got["message"], 0) + 1
            else:
                raise SystemExit(
                    f"{name} differs\n--- template\n{source}\n--- variables\n{json.dumps(given)}\n"
                    f"--- expected\n{want!r}\n--- got\n{got!r}")


def compare_families(comparison, draw, rounds):
    for name, source in FAMILIES.items():
        before = comparison.same
        comparison.run(source, [conversation(draw) for _ in range(rounds)], name)
        if comparison.same - before < rounds / 20:
            raise SystemExit(f"{name}: only {comparison.same - before} of {rounds} conversations were rendered")
    print(f"families: {comparison.same} equal, {comparison.refused} refused by both", flush=True)


def compare_random(comparison, draw, rounds):
    for i in range(rounds):
        comparison.run("{{ " + expression(draw, 3) + " }}", [variables()], f"expression {i}", True, True)
        comparison.run(spaced_template(draw), [variables()], f"white space {i}")
    print(f"random: {comparison.same} equal, {comparison.refused} refused by both, "
          f"{comparison.unread} not read here, {comparison.lenient} refused by jinja2 alone", flush=True)
    if max(comparison.unread, comparison.lenient) > comparison.same / 10:
        sys.exit("too much is not read here, or is not refused")


def compare_published(comparison, draw, rounds, folder):
    paths = sorted(pathlib.Path(folder).glob("*.jinja"))
    if not any(OURS.match(path.name) for path in paths):
        sys.exit(f"{folder}: expected templates of the families that are here, got none")
    for path in paths:
        same, unread = comparison.same, comparison.unread
        comparison.run(path.read_text(encoding="utf-8"), [conversation(draw) for _ in range(rounds)], path.name,
                       may_be_unread=not OURS.match(path.name))
        same, unread = comparison.same - same, comparison.unread - unread
        if OURS.match(path.name) and same < rounds / 20:
            sys.exit(f"{path.name}: only {same} of {rounds} conversations were rendered")
        if unread:
            print(f"{path.name}: {same} equal, {unread} not read here", flush=True)
    print(f"published: {len(paths)} templates, {comparison.same} equal, {comparison.refused} refused by both, "
          f"{comparison.unread} not read here", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("binary")
    parser.add_argument("--short", action="store_true", help="fewer rounds")
    parser.add_argument("--rounds", type=int, help="conversations of each family, and random templates")
    parser.add_argument("--seed", type=int, help="default: 1 with --short, else the time")
    parser.add_argument("--templates", help="a folder of *.jinja files to compare instead")
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
    if arguments.templates:
        compare_published(comparison, draw, rounds, arguments.templates)
    else:
        compare_families(comparison, draw, rounds)
        comparison.same = comparison.refused = 0
        compare_random(comparison, draw, rounds)
    if arguments.verbose:
        for message, count in sorted(comparison.unread_words.items(), key=lambda item: -item[1])[:40]:
            print(count, message)


if __name__ == "__main__":
    main()
