# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""Random conversations and tools, in every shape that templates ask about."""

import json

WORDS = ["hello", "the", "  two ", "\n", "\t", "é", "日本", "😀", "'", '"', "\\", "<", "&", "{{", "{%",
         "</think>", "<think>", "<tool_response>", "</tool_response>", "\u2028", "\u00a0", "0",
         "<|channel|>analysis<|message|>", "[INST]"]
KINDS = ["string", "number", "integer", "array", "object", "boolean"]


def text(draw):
    return "".join(draw.choice(WORDS) for _ in range(draw.randrange(6)))


def parameter(draw, depth=0):
    made = {"type": draw.choice(KINDS)}
    if draw.random() < 0.5:
        made["description"] = text(draw)
    if made["type"] == "array" and draw.random() < 0.7:
        made["items"] = parameter(draw, depth + 1)
    if made["type"] == "object" and depth < 3 and draw.random() < 0.7:
        made["properties"] = {f"p{i}": parameter(draw, depth + 1) for i in range(draw.randrange(1, 3))}
        made["required"] = ["p0"]
    if made["type"] == "string" and draw.random() < 0.4:
        made["enum"] = ["a", "b"]
    if draw.random() < 0.1:
        made["type"] = ["string", "null"]
    if draw.random() < 0.1 and depth < 2:
        made["oneOf"] = [parameter(draw, depth + 1) for _ in range(2)]
    if draw.random() < 0.3:
        made["nullable"] = True
    if draw.random() < 0.3:
        made["default"] = "a" if "enum" in made else draw.choice([1, 2.5, "a", None, True, [1, "é"]])
    return made


def tool(draw):
    made = {"type": "function", "function": {
        "name": draw.choice(["f", "get_weather", "brave_search"]), "description": text(draw),
        "parameters": {"type": "object",
                       "properties": {f"a{i}": parameter(draw) for i in range(draw.randrange(3))},
                       "required": ["a0"]}}}
    if draw.random() < 0.1:
        made["function"]["return"] = {"type": "string"}
    if draw.random() < 0.1:
        del made["function"]["parameters"]
    return made


def one_call(draw):
    arguments = {text(draw): draw.choice([1, 1.5, "x", None, [True, {}]]) for _ in range(draw.randrange(3))}
    made = {"id": "call00001", "type": "function",
            "function": {"name": draw.choice(["f", "brave_search"]), "arguments": arguments}}
    if draw.random() < 0.2:
        made["function"]["arguments"] = json.dumps(arguments)
    if draw.random() < 0.1:
        del made["id"]
    return made["function"] if draw.random() < 0.1 else made


def called(draw):
    """An answer that calls tools, and what they gave."""
    calls = [one_call(draw) for _ in range(1 if draw.random() < 0.7 else 2)]
    answer = {"role": "assistant", "content": text(draw), "tool_calls": calls}
    if draw.random() < 0.3:
        answer["content"] = None
    if draw.random() < 0.2:
        answer["thinking"] = text(draw)
    results = [
        {"role": draw.choice(["tool", "tool", "tool", "ipython"]), "tool_call_id": "call00001", "name": "f",
         "content": text(draw) if draw.random() < 0.8 else {"content": draw.choice([1, text(draw)])}}
        for _ in calls]
    return [answer] + results


def answer(draw):
    made = {"role": "assistant", "content": text(draw)}
    if draw.random() < 0.15:
        made["reasoning_content"] = text(draw)
    if draw.random() < 0.05:
        made["tool_calls"] = draw.choice([None, []])
    if draw.random() < 0.05:
        made["content"] = [{"type": "text", "text": text(draw)}]
    return made


def asked(draw):
    content = text(draw)
    if draw.random() < 0.1:
        content = [{"type": "text", "text": text(draw)}, {"type": draw.choice(["image", "image_url"])}]
    return {"role": "user", "content": content}


def conversation(draw):
    messages = []
    if draw.random() < 0.4:
        messages.append({"role": draw.choice(["system", "system", "developer"]), "content": text(draw)})
    for _ in range(draw.randrange(1, 5)):
        messages.append(asked(draw))
        if draw.random() < 0.2:
            messages += called(draw)
        if draw.random() < 0.9:
            messages.append(answer(draw))
    made = {"messages": messages, "add_generation_prompt": draw.random() < 0.5,
            "bos_token": "<bos>", "eos_token": "</s>"}
    if draw.random() < 0.4:
        made["tools"] = [tool(draw) for _ in range(draw.randrange(1, 3))]
    elif draw.random() < 0.5:
        made["tools"] = draw.choice([None, None, []])
    for name, values in (("enable_thinking", [True, False]), ("tools_in_user_message", [True, False]),
                         ("builtin_tools", [["brave_search", "code_interpreter"], ["browser", "python"]]),
                         ("date_string", ["1 Jan 2025"]), ("reasoning_effort", ["high"]),
                         ("model_identity", ["You are nobody."]), ("documents", [[{"title": "t", "text": "é"}], None])):
        if draw.random() < 0.15:
            made[name] = draw.choice(values)
    return made
