import { expect, test } from 'vitest';
import { renderValueTemplate } from '../../../src/topology/templates/index.ts';
import { testRows } from '../../support/rows.ts';

const variables = {
  s: 'héllo',
  e: '',
  n: 3,
  f: 2.75,
  big: 12345678901,
  t: true,
  z: null,
  l: ['b', 'a', 1, null],
  ls: ['x', 'y'],
  ln: [3, 1, 2.5],
  el: [],
  m: { k: 'v', a: { b: 'deep' }, n: null },
  lm: [{ name: 'n1' }],
};

function fails(error: string): { error: string } {
  return { error };
}

/** Templates, and what Go makes of them. An error is from its line on. */
const templates: [string, unknown][] = [
  // text and trimming
  ['a {{- " b " -}} c', 'a b c'],
  ['a{{/* comment */}}b', 'ab'],
  ['{{- /* c */ -}} x', 'x'],
  ['x: {{`raw\\n`}}', { x: 'raw\\n' }],
  // values
  ['{{ . | toJson | len }}', 192],
  ['{{ .n }} {{ .big }} {{ .f }} {{ .t }} {{ .z }}', '3 1.2345678901e+10 2.75 true <no value>'],
  ['{{ .missing }}', '<no value>'],
  ['{{ .missing.deep }}', '<no value>'],
  ['{{ .m.n.x }}', fails('1:5: executing "tpl" at <.m.n.x>: nil pointer evaluating interface {}.x')],
  ['{{ .s.x }}', fails(`1:5: executing "tpl" at <.s.x>: can't evaluate field x in type interface {}`)],
  ['{{ .m.k.x }}', fails(`1:5: executing "tpl" at <.m.k.x>: can't evaluate field x in type interface {}`)],
  ['{{ $ | len }}', 13],
  ['{{ nil }}', fails('1:3: executing "tpl" at <nil>: nil is not a command')],
  [`{{ 1 }} {{ 0x1F }} {{ 1e3 }} {{ 'a' }} {{ 1_000 }} {{ 0b11 }}`, '1 31 1000 97 1000 3'],
  ['{{ "a\\tb\\u00e9\\x41" | toJson }}', 'a\tbéA'],
  ['{{ true }} {{ false }}', 'true false'],
  ['{{ (.m).k }}', 'v'],
  ['{{ (index .lm 0).name }}', 'n1'],
  [
    '{{ 9223372036854775808 }}',
    fails('1:3: executing "tpl" at <9223372036854775808>: 9223372036854775808 overflows int'),
  ],
  // pipelines
  ['{{ "a" | printf "%s-%s" "b" }}', 'b-a'],
  ['{{ .s | upper | trunc 3 }}', 'HÉ'],
  ['{{ 1 | 2 }}', fails('1: non executable command in pipeline stage 2')],
  ['{{ .s | .n }}', fails('1:8: executing "tpl" at <.n>: n is not a method but has arguments')],
  ['{{ printf "%d" (len .l) }}', 4],
  ['{{ (1) }}', 1],
  ['{{ "x" 1 }}', fails(`1:3: executing "tpl" at <"x">: can't give argument to non-function "x"`)],
  ['{{ .s 1 }}', fails('1:3: executing "tpl" at <.s>: s is not a method but has arguments')],
  // variables
  ['{{ $x := 1 }}{{ $x = 2 }}{{ $x }}', 2],
  ['{{ $x := 1 }}{{ if true }}{{ $x = 2 }}{{ $x := 3 }}{{ end }}{{ $x }}', 2],
  ['{{ $y }}', fails('1: undefined variable "$y"')],
  ['{{ if true }}{{ $x := 1 }}{{ end }}{{ $x }}', fails('1: undefined variable "$x"')],
  ['{{ $x := .m }}{{ $x.k }}', 'v'],
  ['{{ $x, $y := .l }}', fails('1: too many declarations in command')],
  ['{{ "x"|len|.k  }}', fails('1:11: executing "tpl" at <.k>: k is not a method but has arguments')],
  [
    '{{ $x:=index  .l\n (  add 4|add 5 )|quote }}',
    fails('1:7: executing "tpl" at <index .l (add 4 | add 5)>: error calling index: index out of range: 9'),
  ],
  ['{{ with $x := 5 }}{{ $x }}{{ end }}', 5],
  // conditions
  ['{{ if .e }}a{{ else }}b{{ end }}', 'b'],
  ['{{ if 0 }}a{{ else if "x" }}b{{ else }}c{{ end }}', 'b'],
  ['{{ if .missing }}a{{ end }}b', 'b'],
  ['{{ with .m }}{{ .k }}{{ end }}', 'v'],
  ['{{ with .e }}a{{ else with .s }}{{ . }}{{ else }}c{{ end }}', 'héllo'],
  ['{{ if }}a{{ end }}', fails('1: missing value for if')],
  ['{{ if true }}a', fails('1: unexpected EOF')],
  ['{{ else }}', fails('1: unexpected {{else}}')],
  ['{{ if true }}a{{ else }}b{{ else }}c{{ end }}', fails('1: expected end; found {{else}}')],
  // loops
  ['{{ range .ln }}<{{ . }}>{{ end }}', '<3><1><2.5>'],
  ['{{ range $i, $e := .ls }}{{ $i }}={{ $e }};{{ end }}', '0=x;1=y;'],
  ['{{ range $k, $v := .m }}{{ $k }},{{ end }}', 'a,k,n,'],
  ['{{ range .el }}a{{ else }}none{{ end }}', 'none'],
  ['{{ range 3 }}{{ . }}{{ end }}', 10],
  [
    '{{ range $i := until 5 }}{{ if eq $i 1 }}{{ continue }}{{ end }}{{ if eq $i 3 }}{{ break }}{{ end }}{{ $i }}{{ end }}',
    2,
  ],
  ['{{ range .s }}a{{ end }}', fails(`1:9: executing "tpl" at <.s>: range can't iterate over héllo`)],
  ['{{ range .n }}a{{ end }}', fails(`1:9: executing "tpl" at <.n>: range can't iterate over 3`)],
  ['{{ range .missing }}a{{ else }}b{{ end }}', 'b'],
  ['{{ break }}', fails('1: {{break}} outside {{range}}')],
  ['{{ $x := 0 }}{{ range $x = .ln }}{{ end }}{{ $x }}', 2.5],
  // templates
  ['{{ define "t" }}<{{ . }}>{{ end }}{{ template "t" .n }}{{ template "t" }}', '<3><<no value>>'],
  ['{{ block "b" .m }}{{ .k }}{{ end }}', 'v'],
  ['{{ template "none" }}', fails('1:12: executing "tpl" at <{{template "none"}}>: template "none" not defined')],
  [
    '{{ template "none"  ( .m|len ) }}',
    fails('1:12: executing "tpl" at <{{template "none" (.m | len)}}>: template "none" not defined'),
  ],
  [
    '{{ define "t" }}a{{ end }}{{ define "t" }}b{{ end }}{{ template "t" }}',
    fails('1: template: multiple definition of template "t"'),
  ],
  ['{{ define "t" }}{{ $.k }}{{ end }}{{ template "t" .m }}', 'v'],
  ['{{ if true }}{{ define "t" }}{{ end }}{{ end }}', fails('1: unexpected <define> in command')],
  ['{{ template .s }}', fails('1: unexpected ".s" in template clause')],
  [
    '{{ define "r" }}{{ if lt (len .) 3 }}{{ template "r" (append . 1) }}{{ else }}{{ len . }}{{ end }}{{ end }}{{ template "r" (list) }}',
    3,
  ],
  // faults
  ['{{', fails('1: unclosed action')],
  ['{{ "abc', fails('1: unterminated quoted string')],
  [`{{ "a' }}`, fails('1: unterminated quoted string')],
  [`{{ 'ab' }}`, fails(`1: malformed character constant: 'ab'`)],
  ['{{ `a', fails('1: unterminated raw quoted string')],
  ['{{ .a. }}', fails('1: unexpected <.> in operand')],
  ['{{ .a.1 }}', fails('1: unexpected ".1" in operand')],
  ['{{ 1.2.3 }}', fails('1: unexpected ".3" in operand')],
  ['{{ 08 }}', fails('1: integer overflow: "08"')],
  ['{{ ) }}', fails('1: unexpected right paren')],
  ['{{ (1 }}', fails('1: unclosed left paren')],
  ['{{ nope 1 }}', fails('1: function "nope" not defined')],
  ['{{ len }}', fails('1:3: executing "tpl" at <len>: wrong number of args for len: want 1 got 0')],
  ['{{ len 1 2 }}', fails('1:3: executing "tpl" at <len>: wrong number of args for len: want 1 got 2')],
  ['{{ upper 1 }}', fails('1:9: executing "tpl" at <1>: expected string; found 1')],
  ['{{ upper .n }}', fails('1:9: executing "tpl" at <.n>: wrong type for value; expected string; got float64')],
  ['{{ trunc "x" "y" }}', fails('1:9: executing "tpl" at <"x">: expected integer; found "x"')],
  ['{{ trunc .n "y" }}', fails('1:9: executing "tpl" at <.n>: wrong type for value; expected int; got float64')],
  ['{{ upper nil }}', fails('1:9: executing "tpl" at <nil>: cannot assign nil to string')],
  ['{{ 1 + 2 }}', fails('1: illegal number syntax: "+"')],
  ['{{ a-b }}', fails(`1: bad character U+002D '-'`)],
  ['{{ .a-b }}', fails(`1: bad character U+002D '-'`)],
  ['{{ "a" . }}', fails(`1:3: executing "tpl" at <"a">: can't give argument to non-function "a"`)],
  ['{{ @ }}', fails('1: unexpected "@" in command')],
  ['{{ é }}', fails('1: function "é" not defined')],
  ['{{ end }}', fails('1: unexpected {{end}}')],
  ['{{/* a }}', fails('1: unclosed comment')],
  ['{{/* a */ }} x', fails('1: comment ends before closing delimiter')],
  ['{{ $ := 1 }}', null],
  ['{{ .x := 1 }}', fails('1: unexpected ":=" in operand')],
  ['{{ $x = 1 }}', fails('1:8: executing "tpl" at <1>: undefined variable: $x')],
  ['{{ range $a, $b, $c := .l }}{{ end }}', fails('1: too many declarations in range')],
  ['{{ with }}{{ end }}', fails('1: missing value for with')],
  ['{{ template }}', fails('1: unexpected "}}" in template clause')],
  ['{{ define x }}{{ end }}', fails('1: unexpected "x" in define clause')],
  [
    '{{ if eq .n 1 }}a{{ end }}',
    fails('1:6: executing "tpl" at <eq .n 1>: error calling eq: incompatible types for comparison: float64 and int'),
  ],
  ['a\nb {{ fail "x" }}', fails('2:5: executing "tpl" at <fail "x">: error calling fail: x')],
  ['a: 1\nb: {{ .m.k.z }}', fails(`2:8: executing "tpl" at <.m.k.z>: can't evaluate field z in type interface {}`)],
  [
    '{{ index .m 1 }}',
    fails('1:3: executing "tpl" at <index .m 1>: error calling index: value has type int; should be string'),
  ],
  [
    '{{ index .missing "a" }}',
    fails('1:3: executing "tpl" at <index .missing "a">: error calling index: index of untyped nil'),
  ],
  [
    '{{ index .l "a" }}',
    fails('1:3: executing "tpl" at <index .l "a">: error calling index: cannot index slice/array with type string'),
  ],
  [
    '{{ slice .s 1 }}',
    fails(
      '1:3: executing "tpl" at <slice .s 1>: error calling slice: list should be type of slice or array but string',
    ),
  ],
  ['{{ lt .m 1 }}', fails('1:3: executing "tpl" at <lt .m 1>: error calling lt: invalid type for comparison')],
  ['{{ eq .m .l }}', fails('the template compares lists, maps or versions')],
  ['{{ eq .missing 1 }}', false],
  ['{{ eq 1 }}', fails('1:3: executing "tpl" at <eq 1>: error calling eq: missing argument for comparison')],
];

function outcome(template: string): unknown {
  try {
    return renderValueTemplate(template, variables);
  } catch (error) {
    return fails((error as Error).message.replace(/^.*": template: tpl:/s, ''));
  }
}

testRows('templates give what Go makes of them', templates, (expected, template) => {
  expect(outcome(template)).toEqual(expected);
});

test('a value that was read is not the one that is read again', () => {
  const read = () => renderValueTemplate('- path: /etc/size', {});
  (read() as unknown[]).push('changed');
  expect(read()).toEqual([{ path: '/etc/size' }]);
});
