# Copyright © 2026 the holdfast authors. SPDX-License-Identifier: Apache-2.0
"""More chat templates in the families' style, and one that holds every construct.

They are ours, as those of template_families.py are.
"""

# llama 3.1: tools of the model's own, called as python calls, and tools that
# the first question brings along.
LLAMA31 = """\
{{- bos_token }}
{%- if custom_tools is defined %}{%- set tools = custom_tools %}{%- endif %}
{%- if not tools_in_user_message is defined %}{%- set tools_in_user_message = true %}{%- endif %}
{%- if not date_string is defined %}{%- set date_string = "1 Feb 2024" %}{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set first = messages[0]['content']|trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set first = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\\n\\n" }}
{%- if builtin_tools is defined or tools is not none %}{{- "Environment: ipython\\n" }}{%- endif %}
{%- if builtin_tools is defined %}
    {{- "Tools: " + builtin_tools | reject('equalto', 'code_interpreter') | join(", ") + "\\n\\n"}}
{%- endif %}
{{- "Today: " + date_string + "\\n\\n" }}
{%- if tools is not none and not tools_in_user_message %}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
{%- endif %}
{{- first }}{{- "<|eot_id|>" }}
{%- if tools_in_user_message and not tools is none %}
    {%- if messages | length != 0 %}
        {%- set question = messages[0]['content']|trim %}
        {%- set messages = messages[1:] %}
    {%- else %}
        {{- raise_exception("no question for the tools") }}
    {%- endif %}
    {{- '<|start_header_id|>user<|end_header_id|>\\n\\n' -}}
    {%- for t in tools %}{{- t | tojson(indent=4) }}{{- "\\n\\n" }}{%- endfor %}
    {{- question + "<|eot_id|>"}}
{%- endif %}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or message.role == 'tool' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\\n\\n'+ message['content'] | trim + '<|eot_id|>' }}
    {%- elif 'tool_calls' in message %}
        {%- if not message.tool_calls|length == 1 %}{{- raise_exception("one call at once") }}{%- endif %}
        {%- set call = message.tool_calls[0].function %}
        {{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' -}}
        {%- if builtin_tools is defined and call.name in builtin_tools %}
            {{- "<|python_tag|>" + call.name + ".call(" }}
            {%- for key, value in call.arguments | items %}
                {{- key + '="' + value + '"' }}
                {%- if not loop.last %}{{- ", " }}{%- endif %}
            {%- endfor %}
            {{- ")" }}
        {%- else  %}
            {{- '{"name": "' + call.name + '", "parameters": ' }}{{- call.arguments | tojson }}{{- "}" }}
        {%- endif %}
        {{- "<|eom_id|>" if builtin_tools is defined else "<|eot_id|>" }}
    {%- elif message.role == "tool" or message.role == "ipython" %}
        {{- "<|start_header_id|>ipython<|end_header_id|>\\n\\n" }}
        {%- if message.content is mapping or message.content is iterable %}
            {{- message.content | tojson }}
        {%- else %}
            {{- message.content }}
        {%- endif %}
        {{- "<|eot_id|>" }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|start_header_id|>assistant<|end_header_id|>\\n\\n' }}{%- endif %}
"""

MISTRAL_V01 = """\
{{ bos_token }}{% for message in messages %}\
{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('roles must alternate') }}{% endif %}\
{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}\
{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token + ' ' }}\
{% else %}{{ raise_exception('only users and assistants') }}{% endif %}{% endfor %}
"""

# nemo: strict about the ids of calls; no white space around its tags.
MISTRAL_NEMO = """\
{%- if messages[0]["role"] == "system" %}
    {%- set said = messages[0]["content"] %}
    {%- set rest = messages[1:] %}
{%- else %}
    {%- set rest = messages %}
{%- endif %}
{%- if not tools is defined %}{%- set tools = none %}{%- endif %}
{%- set asked = rest | selectattr("role", "equalto", "user") | list %}
{%- for message in rest | rejectattr("role", "equalto", "tool") | rejectattr("role", "equalto", "ipython") | selectattr("tool_calls", "undefined") %}
    {%- if (message["role"] == "user") != (loop.index0 % 2 == 0) %}
        {{- raise_exception("roles must alternate, calls left out") }}
    {%- endif %}
{%- endfor %}
{{- bos_token }}
{%- for message in rest %}
    {%- if message["role"] == "user" %}
        {%- if tools is not none and (message == asked[-1]) %}
            {{- "[AVAILABLE_TOOLS][" }}
            {%- for tool in tools %}
                {%- set tool = tool.function %}
                {{- '{"type": "function", "function": {' }}
                {%- for key, val in tool|items if key != "return" %}
                    {{- '"' + key + '": ' + (val|tojson if val is not string else '"' + val + '"') }}
                    {%- if not loop.last %}{{- ", " }}{%- endif %}
                {%- endfor %}
                {{- "}}" }}{{- ", " if not loop.last else "]" }}
            {%- endfor %}
            {{- "[/AVAILABLE_TOOLS]" }}
        {%- endif %}
        {{- "[INST]" + (said + "\\n\\n" if loop.last and said is defined else "") + message["content"] + "[/INST]" }}
    {%- elif message.tool_calls is defined and message.tool_calls is not none %}
        {{- "[TOOL_CALLS][" }}
        {%- for call in message.tool_calls %}
            {%- set out = call.function|tojson %}
            {{- out[:-1] }}
            {%- if not call.id is defined or call.id|length != 9 %}
                {{- raise_exception("ids of nine letters") }}
            {%- endif %}
            {{- ', "id": "' + call.id + '"}' }}{{- ", " if not loop.last else "]" + eos_token }}
        {%- endfor %}
    {%- elif message["role"] == "assistant" %}
        {{- message["content"] + eos_token}}
    {%- else %}
        {%- if message.content is defined and message.content.content is defined %}
            {%- set content = message.content.content %}
        {%- else %}
            {%- set content = message.content %}
        {%- endif %}
        {{- '[TOOL_RESULTS]{"content": ' + content|string + ', "call_id": "' + message.tool_call_id + '"}[/TOOL_RESULTS]' }}
    {%- endif %}
{%- endfor %}
"""

QWEN25 = """\
{%- if tools %}
    {{- '<|im_start|>system\\n' }}
    {{- messages[0]['content'] if messages[0]['role'] == 'system' else 'Be of help.' }}
    {{- "\\n\\n# Tools\\n<tools>" }}
    {%- for tool in tools %}{{- "\\n" }}{{- tool | tojson }}{%- endfor %}
    {{- "\\n</tools>\\n\\n{\\"name\\": <function-name>, \\"arguments\\": <args-json-object>}<|im_end|>\\n" }}
{%- elif messages[0]['role'] == 'system' %}
    {{- '<|im_start|>system\\n' + messages[0]['content'] + '<|im_end|>\\n' }}
{%- else %}
    {{- '<|im_start|>system\\nBe of help.<|im_end|>\\n' }}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>' + '\\n' }}
    {%- elif message.role == "assistant" %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content %}{{- '\\n' + message.content }}{%- endif %}
        {%- for tool_call in message.tool_calls %}
            {%- if tool_call.function is defined %}{%- set tool_call = tool_call.function %}{%- endif %}
            {{- '\\n<tool_call>\\n{"name": "' }}{{- tool_call.name }}
            {{- '", "arguments": ' }}{{- tool_call.arguments | tojson }}{{- '}\\n</tool_call>' }}
        {%- endfor %}
        {{- '<|im_end|>\\n' }}
    {%- elif message.role == "tool" %}
        {%- if (loop.index0 == 0) or (messages[loop.index0 - 1].role != "tool") %}{{- '<|im_start|>user' }}{%- endif %}
        {{- '\\n<tool_response>\\n' }}{{- message.content }}{{- '\\n</tool_response>' }}
        {%- if loop.last or (messages[loop.index0 + 1].role != "tool") %}{{- '<|im_end|>\\n' }}{%- endif %}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}{{- '<|im_start|>assistant\\n' }}{%- endif %}
"""

# The coders of qwen 3: a macro over what is left of a dict.
QWEN3_CODER = """\
{% macro others(json, known) %}
    {%- if json is mapping %}
        {%- for key in json if key not in known %}
            {%- if json[key] is mapping or (json[key] is sequence and json[key] is not string) %}
                {{- '\\n<' ~ key ~ '>' ~ (json[key] | tojson | safe) ~ '</' ~ key ~ '>' }}
            {%- else %}
                {{-'\\n<' ~ key ~ '>' ~ (json[key] | string) ~ '</' ~ key ~ '>' }}
            {%- endif %}
        {%- endfor %}
    {%- endif %}
{% endmacro %}
{%- if not tools is defined %}{%- set tools = [] %}{%- endif %}
{%- if tools is iterable and tools | length > 0 %}
    {%- for tool in tools %}
        {%- if tool.function is defined %}{%- set tool = tool.function %}{%- endif %}
        {{- "\\n<function>\\n<name>" ~ tool.name ~ "</name>" }}
        {%- if tool.description is defined %}{{- '\\n<about>' ~ (tool.description | trim) ~ '</about>' }}{%- endif %}
        {%- if tool.parameters is defined and tool.parameters is mapping and tool.parameters.properties is mapping %}
            {%- for name, fields in tool.parameters.properties|items %}
                {{- '\\n<name>' ~ name ~ '</name><type>' ~ (fields.type | string) ~ '</type>' }}
                {% set known = ['name', 'type', 'description'] %}
                {{- others(fields, known) }}
            {%- endfor %}
        {%- endif %}
        {{- others(tool.parameters, ['type', 'properties']) }}
        {{- others(tool, ['type', 'name', 'description', 'parameters']) }}
    {%- endfor %}
{%- endif %}
{%- for message in messages %}
    {%- if message.role == "assistant" and message.tool_calls is defined and message.tool_calls is iterable and message.tool_calls | length > 0 %}
        {{- '<|im_start|>' + message.role }}
        {%- if message.content is defined and message.content is string and message.content | trim | length > 0 %}
            {{- '\\n' + message.content | trim + '\\n' }}
        {%- endif %}
        {%- for call in message.tool_calls %}
            {%- if call.function is defined %}{%- set call = call.function %}{%- endif %}
            {{- '\\n<function=' + call.name + '>\\n' }}
            {%- for name, value in call.arguments|items %}
                {%- set value = value | tojson | safe if value is mapping or (value is sequence and value is not string) else value | string %}
                {{- '<' + name + '>' }}{{- value }}
            {%- endfor %}
        {%- endfor %}
    {%- elif message.role == "tool" %}
        {%- if loop.previtem and loop.previtem.role != "tool" %}{{- '<|im_start|>user\\n' }}{%- endif %}
        {{- message.content }}
        {%- if not loop.last and loop.nextitem.role != "tool" %}{{- '<|im_end|>\\n' }}{%- elif loop.last %}{{- '<|end|>' }}{%- endif %}
    {%- else %}
        {{- '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}
    {%- endif %}
{%- endfor %}
"""

GEMMA2 = """\
{{ bos_token }}{% if messages[0]['role'] == 'system' %}{{ raise_exception('no system here') }}{% endif %}\
{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}\
{{ raise_exception('roles must alternate') }}{% endif %}\
{% if (message['role'] == 'assistant') %}{% set role = 'model' %}{% else %}{% set role = message['role'] %}{% endif %}\
{{ '<start_of_turn>' + role + '
' + message['content'] | trim + '<end_of_turn>
' }}{% endfor %}{% if add_generation_prompt %}{{'<start_of_turn>model
'}}{% endif %}
"""

PHI35 = """\
{% for message in messages %}{% if message['role'] == 'system' and message['content'] %}{{'<|system|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'user' %}{{'<|user|>
' + message['content'] + '<|end|>
'}}{% elif message['role'] == 'assistant' %}{{'<|assistant|>
' + message['content'] + '<|end|>
'}}{% endif %}{% endfor %}{% if add_generation_prompt %}{{ '<|assistant|>
' }}{% else %}{{ eos_token }}{% endif %}
"""

# One of everything that such templates use.
CONSTRUCTS = """\
{#- a comment, #}{%- set seen = namespace(count=0, roles=[], last=none) -%}
{%- macro shown(value, depth=0, mark='-') -%}
    {%- if value is mapping -%}
        {%- for key, one in value|dictsort -%}
            {{ mark * (depth + 1) }}{{ key }}={{ shown(one, depth + 1, mark=mark) }};
        {%- endfor -%}
    {%- elif value is string -%}{{ value|replace("\\n", " ")|trim }}
    {%- elif value is boolean -%}{{ 'yes' if value else 'no' }}
    {%- elif value is number -%}{{ value|string }}
    {%- elif value is none -%}nothing
    {%- elif value is iterable -%}[{% for one in value %}{{ shown(one, depth + 1) }}{{ ',' if not loop.last }}{% endfor %}]
    {%- else -%}{{ raise_exception('what is ' ~ value) }}
    {%- endif -%}
{%- endmacro -%}
{% set head | trim %}
  {{ strftime_now("%d %B %Y, %H:%M") }} {% if date_string is defined %}{{ date_string }}{% endif %}
{% endset %}
{{ head.split(',')[0].strip() ~ '|' ~ head.split(',', 1)[-1].lstrip() }}
{% for message in messages if message.role != 'developer' %}
    {% if loop.index0 > 6 %}{% break %}{% endif %}
    {% if message.content is none or message.content is not defined %}{% continue %}{% endif %}
    {% set seen.count = seen.count + 1 %}
    {% set seen.last = message.role %}
    {%- if not loop.first and loop.previtem.role == message.role %} again{% endif %}
{{ loop.index }}/{{ loop.length }} {{ loop.cycle('a', 'b') }} {{ message.role|capitalize }}: {{ shown(message.content, mark='+') }}
    {%- if message.content is string %}
        {{- message.content.split('</think>')[-1].lstrip('\\n').rstrip()[:5] }}
        {{- ' starts' if message.content.startswith('hello') }}{{ ' ends' if message.content.endswith(('the', '0')) }}
    {%- endif %}
{% else %}
none
{% endfor %}
{%- generation %}{{ messages|map(attribute='role')|unique|join('+')|upper }}{% endgeneration %}
{% set names = (tools or [])|selectattr('function.name', 'ne', 'f')|map(attribute='function.name')|list %}
{{ names|length }} {{ names|first|default('no tool') }} {{ 'f' in names }} {{ names|sort|last|default('', true) }}
{% with kinds = messages|map(attribute='role')|list, n = seen.count %}{{ kinds[::-1][:2]|tojson }} {{ kinds|length - n }}{% endwith %}
{{ (tools or {})|tojson(indent=2) if tools is not mapping and tools is sequence else 'no tools'|indent(2, first=true) }}
{% filter lower %}{% raw %}{{ NOT }} {% IF %}{% endraw %}{{ seen.last|default('NOBODY') }}{% endfilter %}
{% for key, value in {'b': [1, 2.5], 'a': none, 'c': {'é': true}}.items() %}{{ key }}:{{ value|tojson }} {% endfor %}
{{ [1, 2, 3]|sum }} {{ 7 // 2 }} {{ -7 % 3 }} {{ 2 ** 5 }} {{ 1 < seen.count <= 4 }} {{ (messages|length, 'x')|join('-') }}
{{- '\\u00e9\\t"' ~ "it's" ~ '\\\\' }} {{ dict(a=1, b='x').get('b') }} {{ namespace(v=3).v }} {{ range(5, 0, -2)|list }}
"""

MORE = {
    "llama3.1": LLAMA31,
    "mistral-v0.1": MISTRAL_V01,
    "mistral-nemo": MISTRAL_NEMO,
    "qwen2.5": QWEN25,
    "qwen3-coder": QWEN3_CODER,
    "gemma2": GEMMA2,
    "phi3.5": PHI35,
    "constructs": CONSTRUCTS,
}
