import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** How kubectl reads a file: the objects that it printed, and whether it rejected the file (or the rest of it). */
export interface KubectlReading {
  name: string;
  text: string;
  objects: JsonObject[];
  /** First line of its error. */
  error?: string;
}

const head = 'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: x}\n';

/** Scalars as a value, unquoted. */
const scalars = [
  // Booleans, and scalars that look like them.
  'true True TRUE tRUE false False FALSE yes Yes YES yEs no No NO on On ON off Off OFF y Y n N t f',
  // Nulls.
  '~ null Null NULL nULL nil none undefined',
  // Integers in all bases, with signs and underscores.
  '0 1 -1 +1 +0 -0 00 01 007 010 -010 +010 08 09 -08 +09 0o17 -0o17 +0o17 0O17 0o8 0o 0x1F 0X1f 0xfg -0x1f +0x1f 0x 0x_1f 0x1_f 0b101 0B101 -0b101 +0b101 0b2 0b 0b1_0 0b+1 0b-1_0 -0b-1 0B+1 0b+ 1_000 _1 1_ 1__0 -1_0 0_7 07_7 1_2_3',
  '9007199254740991 9223372036854775807 9223372036854775808 18446744073709551615 18446744073709551616 -9223372036854775808 -9223372036854775809 123456789012345678901234567890 0xffffffffffffffff 0xfffffffffffffffff 0777777777777777777777 01777777777777777777777 1e1000 -1e1000 1e-1000',
  // Floats.
  '1.0 1.5 -1.5 +1.5 1. -1. .5 -.5 +.5 . .. ... 1.2.3 1e3 1E3 1e+3 1e-3 -1e3 +1e3 1.e3 1.5e3 .5e3 .5e+3 .5E-3 e1 E5 e5 -e3 +e3 .e3 -.e3 1e 1e+ 1e- 1e3.5 1_0.5 1_0e1 1.5_0 .5_0 -.5_5 .1e1 ._5 0.0 -0.0 00.5 08.5 0e0 1d3 1f 1L 0x1p-2 0x1.8p1 .0x1 1e5e5 12e03 685.230_15e+03 685_230.15 6.8523015e+5',
  '1e20 1e21 1e22 1e-6 1e-7 1e-8 123456789.123456789 0.1 100000000000000000000 1.7976931348623157e308 5e-324 4.9e-325 3.4028235677973366e+38',
  '.inf .Inf .INF .iNF -.inf -.Inf +.inf +.INF inf Inf -inf .nan .NaN .NAN .Nan nan NaN -.nan +.nan Infinity infinity +Infinity .infinity',
  // Sexagesimal numbers, times and dates.
  '1:30 12:30:45 12:30:45.5 190:20:30 190:20:30.15 -1:30 0:0 1:60 23:59 2001-12-14 2001-12-14T21:59:43.10-05:00 2001-12-14t21:59:43Z 2001-1-1 2001-13-01 20011214 2001-12-14T',
  // Words and punctuation.
  'a - -- -a a-b a:b a#b #a :a a: ::: a,b =  == <<  < > >> * & ! % @ ` | ? ?a -? ~a a~ $ $a {} [] () ^ \\ \\n a\\nb "" \'\' /  //  .a a. _ __ + +a -+1 +-1 1a a1 1- 1+ 1-2 1/2 1,000 ½ ١ １ é 日本 \u00a0 a\u00a0b \u2028 a\u2028b a\u0085b \ufeffa a\ufeffb \ud83d\ude00 v1.2.3 1.2.3.4 10.0.0.0/8 ::1 fe80::1 1Gi 100m 1h30m https://a.example:443/b?c=d#e image:1.0@sha256:00',
].flatMap((line) => line.split(/ +/));

/** Values of more than one word, or with white space of their own. */
const values: Record<string, string> = {
  empty: '',
  'blank before a comment': ' # c',
  'plain words': 'some more words',
  'plain with a colon': 'a: b',
  'plain with an inner hash': 'a #b',
  'plain with a glued hash': 'a#b c',
  'plain over lines': 'a\n  b\n  c',
  'plain over lines with a blank one': 'a\n\n  b',
  'plain over lines with a comment': 'a # c\n  b',
  'double-quoted': '"a b"',
  'double-quoted number': '"1"',
  'double-quoted escapes': '"\\0\\a\\b\\t\\n\\v\\f\\r\\e\\"\\\\\\N\\_\\L\\P"',
  'double-quoted slash': '"\\/"',
  'double-quoted hex': '"\\x41\\u00e9\\U0001f600"',
  'double-quoted surrogates': '"\\ud83d\\ude00"',
  'double-quoted lone surrogate': '"\\ud83d"',
  'double-quoted surrogate \\U': '"\\U0000d83d"',
  'double-quoted beyond Unicode': '"\\U00110000"',
  'double-quoted unknown escape': '"\\q"',
  'double-quoted quote': '"\\\'"',
  'double-quoted space escape': '"\\ a"',
  'double-quoted tab escape': '"\\\ta"',
  'double-quoted raw tab': '"a\tb"',
  'double-quoted over lines': '"a\n  b\n\n  c"',
  'double-quoted escaped line end': '"a\\\n  b"',
  'double-quoted escaped line end and a blank line': '"a\\\n\n  b"',
  'double-quoted escaped line end and a line of blanks': '"a\\\n  \n  b"',
  'double-quoted at column 0': '"a\nb"',
  'double-quoted trailing blanks': '"a  \n   b"',
  'double-quoted short hex': '"\\x4"',
  'double-quoted open': '"a',
  'double-quoted with text behind': '"a" b',
  'double-quoted with a glued comment': '"a"#b',
  'double-quoted with a comment': '"a" #b',
  'single-quoted': "'a b'",
  'single-quoted quote': "'it''s'",
  'single-quoted backslash': "'a\\nb'",
  'single-quoted over lines': "'a\n  b\n\n  c'",
  'single-quoted bool': "'yes'",
  literal: '|\n  a\n  b\n',
  'literal strip': '|-\n  a\n  b\n\n',
  'literal keep': '|+\n  a\n  b\n\n',
  'literal indent': '|1\n  a\n b\n',
  'literal indent and strip': '|2-\n   a\n',
  'literal strip and indent': '|-2\n   a\n',
  'literal indent 0': '|0\n  a\n',
  'literal with blank lines first': '|\n\n\n  a\n',
  'literal with spaces first': '|\n    \n  a\n',
  'literal with more indent': '|\n  a\n    b\n  c\n',
  'literal with a comment': '| # c\n  a\n',
  'literal with a glued comment': '|# c\n  a\n',
  'literal with text behind': '| a\n  b\n',
  'literal with a tab': '|\n  \ta\n',
  'literal of nothing': '|\nb: 1\n',
  'literal of blanks': '|+\n\n\nb: 1\n',
  'literal with markers': '|\n  ---\n  ...\n',
  'literal with a less indented comment': '|\n  a\n # c\nb: 1\n',
  'literal without a newline at the end': '|\n  a',
  'literal keep without a newline at the end': '|+\n  a',
  folded: '>\n  a\n  b\n\n  c\n',
  'folded strip': '>-\n  a\n  b\n',
  'folded keep': '>+\n  a\n\n',
  'folded with more indent': '>\n  a\n    b\n    c\n  d\n',
  'folded with blank lines': '>\n  a\n\n\n  b\n',
  'flow list': '[a, b, 1, yes, ~]',
  'flow list with a comma at the end': '[a, ]',
  'flow list of nothing but commas': '[,]',
  'flow list with two commas': '[a,,b]',
  'flow list over lines': '[a,\n  b]',
  'flow list over lines at column 0': '[a,\nb]',
  'flow list with a bracket at column 0': '[\n  a\n]',
  'flow list open': '[a',
  'flow list with pairs': '[a: 1, b: 2]',
  'flow list with an explicit key': '[? a : 1]',
  'flow list with words': '[a b, c d]',
  'flow list with colons': '[a:b, ::c, d:]',
  'flow list with urls': '[https://a.example:443/x, 10:20]',
  'flow list with comments': '[a, # c\n  b]',
  'flow list with a dash': '[- a]',
  'flow list with dashes': '[-a, -1, -]',
  'flow map': '{a: 1, b: {c: 2}}',
  'flow map without blanks': '{a:1}',
  'flow map with a colon before the brace': '{a :}',
  'flow map with a colon before the brace, on another line': '{a\n  :}',
  'flow map with a colon before the comma': '{a :, b: 1}',
  'flow map with a quoted key and a colon before the brace': '{"a" :}',
  'flow list with a colon before the bracket': '[a :]',
  'flow map with a quoted key without blanks': '{"a":1}',
  'flow map with a single-quoted key without blanks': "{'a':1}",
  'flow map with keys alone': '{a, b: }',
  'flow map with a comma at the end': '{a: 1, }',
  'flow map with an empty key': '{: 1}',
  'flow map with an explicit key': '{? a : 1}',
  'flow map with a number without blanks': '{1:2}',
  'flow map over lines': '{\n  a: 1,\n  b: 2\n  }',
  'flow map with a brace at column 0': '{\n  a: 1\n}',
  'flow map with a tab': '{\ta:\t1}',
  'flow map with text behind': '{a: 1} b',
  'flow map with a glued comma': '{a: 1,b: 2}',
  'flow map with a question': '{a?: 1, b: c?d}',
  'flow in flow': '[{a: [1, {b: [2]}]}, []]',
  'block list': '\n- a\n- b\n',
  'block list indented': '\n  - a\n  - b\n',
  'block list behind the colon': '- a',
  'block list of lists': '\n- - a\n  - b\n- - c\n',
  'block list of maps': '\n- a: 1\n  b: 2\n- c: 3\n',
  'block list of nothing': '\n-\n-\n',
  'block list with a wrong indent': '\n  - a\n - b\n',
  'block map': '\n  a: 1\n  b: 2\n',
  'block map with a wrong indent': '\n  a: 1\n b: 2\n',
  'block map with more indent later': '\n  a: 1\n    b: 2\n',
  'block map with a tab indent': '\n\ta: 1\n',
  'block map with tab behind the indent': '\n  \ta: 1\n',
  'a tab behind the colon': '\ta',
  'a tab before a flow list': '\t[a, b]',
  'a tab before a flow map': '\n  a:\t{b: 1}\n  c: \t[]\n',
  'a tab before a quoted key': '\n  a:\n  \t"b": 1\n',
  'a tab at the end': 'a\t',
  'a tab before a comment': 'a\t# c',
  'tabs in plain words': 'a\tb',
  'a line of only a tab': 'a\n\t\nb: 1',
  'an explicit key': '\n  ? a\n  : 1\n',
  'an explicit key that is a list': '\n  ? [a]\n  : 1\n',
  'an explicit key that is a map': '\n  ? {a: 1}\n  : 1\n',
  'an explicit key without a value': '\n  ? a\n',
  'an explicit key that is a block': '\n  ? |\n    a\n  : 1\n',
  'keys of many kinds': '\n  1: a\n  2.5: b\n  true: c\n  yes: d\n  0x10: e\n  010: f\n  1e3: g\n  08: h\n',
  'keys that are words': '\n  e1: a\n  .e3: b\n  -e3: c\n  2001-12-14: d\n  12:30: e\n',
  'key y': '\n  y: a\n  n: b\n',
  'key null': '\n  null: a\n',
  'key tilde': '\n  ~: a\n',
  'key empty': '\n  : a\n',
  'key quoted empty': '\n  "": a\n',
  'key .inf': '\n  .inf: a\n',
  'key -.inf': '\n  -.inf: a\n',
  'key .nan': '\n  .nan: a\n',
  'key 1.0': '\n  1.0: a\n',
  'key 0.1': '\n  0.1: a\n',
  'key 16777217.5': '\n  16777217.5: a\n',
  'key 1e21': '\n  1e21: a\n',
  'key 1e-7': '\n  1e-7: a\n',
  'key 123456.7': '\n  123456.7: a\n',
  'key 3.4e39': '\n  3.4e39: a\n',
  'key 100000.0': '\n  100000.0: a\n',
  'key 1234567890.0': '\n  1234567890.0: a\n',
  'key -0.0': '\n  -0.0: a\n',
  'key big integer': '\n  9223372036854775808: a\n',
  'key integer': '\n  9223372036854775807: a\n',
  'keys 1 and "1"': '\n  1: a\n  "1": b\n',
  'keys quoted': '\n  "a": 1\n  \'b\': 2\n  "c d": 3\n',
  'keys quoted without a blank': '\n  "a":1\n',
  'keys with blanks': '\n  a b: 1\n  c  : 2\n',
  'keys with a tag': '\n  !!str 1: a\n',
  'keys with an anchor': '\n  &k a: 1\n  b: *k\n',
  'keys that are aliases': '\n  a: &k b\n  *k : 1\n',
  'keys over lines': '\n  a\n  b: 1\n',
  'keys over 1024 characters': `\n  ${'k'.repeat(1030)}: 1\n`,
  'keys of 1000 characters': `\n  ${'k'.repeat(1000)}: 1\n`,
  'keys twice': '\n  a: 1\n  b: 2\n  a: 3\n',
  'keys twice in flow': '{a: 1, a: 2}',
  'keys twice, quoted': '\n  a: 1\n  "a": 2\n',
  'keys twice, nested': '\n  a: {b: 1}\n  a: {c: 2}\n',
  'keys like __proto__': '\n  __proto__: {a: 1}\n  constructor: 2\n',
  merge: '\n  a: &a {x: 1, w: 2}\n  b: {<<: *a, z: 3}\n',
  'merge, own keys before': '\n  a: &a {x: 1, w: 2}\n  b: {x: 9, <<: *a}\n',
  'merge, own keys behind': '\n  a: &a {x: 1, w: 2}\n  b: {<<: *a, x: 9}\n',
  'merge of a list': '\n  a: &a {x: 1, w: 2}\n  b: &b {x: 3, z: 4}\n  c: {<<: [*a, *b]}\n',
  'merge of a list, in line': '\n  c: {<<: [{x: 1}, {x: 2, w: 3}]}\n',
  'merge of a list with a null': '\n  c: {<<: [{x: 1}, ~]}\n',
  'merge in line': '\n  b: {<<: {x: 1}, w: 2}\n',
  'merge of a string': '\n  b: {<<: a}\n',
  'merge of nothing': '\n  b: {<<: }\n',
  'merge of an empty list': '\n  b: {<<: []}\n',
  'merge of a list in a list': '\n  b: {<<: [[{a: 1}]]}\n',
  'merge of an alias to a list': '\n  a: &a [{x: 1}]\n  b: {<<: *a}\n',
  'merge of an alias to a string': '\n  a: &a s\n  b: {<<: *a}\n',
  'merge, quoted': '\n  b: {"<<": {x: 1}}\n',
  'merge with its tag': '\n  b: {!!merge <<: {x: 1}}\n',
  'merge with the tag str': '\n  b: {!!str <<: {x: 1}}\n',
  'merge twice': '\n  b: {<<: {x: 1}, <<: {x: 2, w: 3}}\n',
  'merge of what merges': '\n  a: &a {x: 1}\n  b: &b {<<: *a, w: 2}\n  c: {<<: *b, z: 3}\n',
  'merge in block style': '\n  a: &a\n    x: 1\n  b:\n    <<: *a\n    w: 2\n',
  'a merge sign as a value': '<<',
  'anchor and alias': '\n  a: &a [1, 2]\n  b: *a\n',
  'anchor on nothing': '\n  a: &a\n  b: *a\n',
  'anchor twice': '\n  a: &a 1\n  b: &a 2\n  c: *a\n',
  'anchor with punctuation': '\n  a: &a.b 1\n',
  'anchor with dashes': '\n  a: &a-b_c 1\n  b: *a-b_c\n',
  'anchor and tag': '\n  a: &a !!str 1\n  b: !!str &b 1\n',
  'alias to nothing': '*a',
  'alias before its anchor': '\n  b: *a\n  a: &a 1\n',
  'alias that contains itself': '&a [*a]',
  'alias with a comma': '\n  a: &a 1\n  b: [*a, *a]\n',
  'tag str': '!!str 1',
  'tag str of null': '!!str null',
  'tag str of nothing': '!!str',
  'tag int': '!!int 1',
  'tag int of a quoted number': '!!int "1"',
  'tag int of a float': '!!int 1.5',
  'tag int of a word': '!!int a',
  'tag int of octal': '!!int 010',
  'tag float of an integer': '!!float 1',
  'tag float of a quoted number': '!!float "1.5"',
  'tag float of a word': '!!float a',
  'tag bool': '!!bool yes',
  'tag bool of a quoted word': '!!bool "true"',
  'tag bool of a word': '!!bool a',
  'tag null': '!!null ~',
  'tag null of a word': '!!null a',
  'tag null of nothing': '!!null',
  'tag binary': '!!binary aGVsbG8=',
  'tag binary over lines': '!!binary |\n  aGVs\n  bG8=\n',
  'tag binary that is not text': '!!binary //4=',
  'tag binary that is not base64': '!!binary "!"',
  'tag timestamp': '!!timestamp 2001-12-14',
  'tag timestamp of a time': '!!timestamp 2001-12-14T21:59:43.1Z',
  'tag timestamp of a word': '!!timestamp a',
  'tag seq': '!!seq [a]',
  'tag map': '!!map {a: 1}',
  'tag map of a list': '!!map [a]',
  'tag set': '!!set {a, b}',
  'tag omap': '!!omap [a: 1]',
  'tag pairs': '!!pairs [a: 1]',
  "tag of one's own": '!foo a',
  "tag of one's own on a number": '!foo 1',
  "tag of one's own on a map": '!foo {a: 1}',
  "tag of one's own on a list": '!foo [a]',
  'tag unknown of YAML': '!!foo a',
  'tag unknown of YAML on a number': '!!foo 1',
  'tag verbatim': '!<tag:yaml.org,2002:str> 1',
  "tag verbatim of one's own": '!<!foo> 1',
  'tag not specific': '! 1',
  'tag not specific on a bool': '! yes',
  'tag with an undeclared handle': '!e!foo a',
  'tag with an escape': '!!s%74r 1',
  'comment behind a value': 'a # c',
  'comment lines': 'a\n# c\n  # d\nb: 1\n',
  'a reserved sign': '@a',
  'a reserved backtick': '`a`',
  'a percent sign': '%a',
  'a colon at the end': 'a:',
  'a dash and a colon': '-: a',
};

const ok = (name: string) => `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: ${name}}\n`;
const json = (name: string) => `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"${name}"}}`;

/** Whole files. */
const files: Record<string, string> = {
  'one document': ok('a'),
  'names as in the first report':
    'apiVersion: v1\nkind: ConfigMap\nmetadata: {name: e1}\nv: [E5, -e3, .e3, 08, 0o17]\n',
  'two documents': `${ok('a')}---\n${ok('b')}`,
  'a marker in front': `---\n${ok('a')}`,
  'a marker at the end': `${ok('a')}---\n`,
  'empty documents': `---\n---\n${ok('a')}---\n\n---\n# c\n---\n${ok('b')}`,
  'null documents': `~\n---\n${ok('a')}`,
  'blanks behind the marker': `${ok('a')}---   \n${ok('b')}`,
  'a tab behind the marker': `${ok('a')}---\t\n${ok('b')}`,
  'a comment behind the marker': `${ok('a')}--- # c\n${ok('b')}`,
  'content behind the marker': `--- {apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n`,
  'content behind the second marker': `${ok('a')}--- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n`,
  'four dashes': `${ok('a')}----\n${ok('b')}`,
  'an end marker': `${ok('a')}...\n`,
  'an end marker and another document': `${ok('a')}...\n---\n${ok('b')}`,
  'an end marker and another document without a marker': `${ok('a')}...\n${ok('b')}`,
  'an end marker with a comment': `${ok('a')}... # c\n---\n${ok('b')}`,
  'a YAML 1.1 directive': `%YAML 1.1\n---\n${ok('a')}`,
  'a YAML 1.2 directive': `%YAML 1.2\n---\n${ok('a')}`,
  'a YAML 2.0 directive': `%YAML 2.0\n---\n${ok('a')}`,
  'a TAG directive': `%TAG !e! tag:yaml.org,2002:\n---\n${ok('a')}v: !e!str 1\n`,
  'an unknown directive': `%FOO bar\n---\n${ok('a')}`,
  'a directive without a marker': `%YAML 1.1\n${ok('a')}`,
  'a byte order mark': `\ufeff${ok('a')}`,
  'a byte order mark and a marker': `\ufeff---\n${ok('a')}`,
  'a byte order mark before the second document': `${ok('a')}---\n\ufeff${ok('b')}`,
  CRLF: `${ok('a')}v: |\n  a\n  b\nw: "a\n  b"\n---\n${ok('b')}`.replaceAll('\n', '\r\n'),
  CR: ok('a').replaceAll('\n', '\r'),
  'no newline at the end': ok('a').trimEnd(),
  'only comments': '# a\n# b\n',
  nothing: '',
  'blank lines': '\n\n',
  'a string': 'a\n',
  'a number': '1\n',
  'a list': '- a\n',
  JSON: `${json('a')}\n`,
  'JSON without a newline': json('a'),
  'JSON over lines': JSON.stringify(JSON.parse(json('a')), null, 2),
  'JSON with tabs': JSON.stringify(JSON.parse(json('a')), null, '\t'),
  'JSON with blanks first': `\n  ${json('a')}`,
  'JSON with a byte order mark': `\ufeff${json('a')}`,
  'JSON concatenated': `${json('a')}${json('b')}`,
  'JSON concatenated on lines': `${json('a')}\n${json('b')}\n`,
  'JSON concatenated over lines': `${JSON.stringify(JSON.parse(json('a')), null, 2)}\n${JSON.stringify(JSON.parse(json('b')), null, 2)}`,
  'JSON with markers': `${json('a')}\n---\n${json('b')}\n`,
  'JSON and then YAML': `${json('a')}\n---\n${ok('b')}`,
  'YAML and then JSON': `${ok('a')}---\n${json('b')}\n`,
  'JSON with text behind': `${json('a')} x`,
  'JSON with a comment': `# c\n${json('a')}\n`,
  'JSON with a comment behind': `${json('a')} # c\n`,
  'JSON with a comma at the end': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a",}}',
  'JSON with single quotes': "{'apiVersion':'v1','kind':'ConfigMap','metadata':{'name':'a'}}",
  'JSON with keys unquoted': '{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}',
  'JSON escapes': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":"\\u0041\\ud83d\\ude00\\/\\n"}',
  'JSON with a lone surrogate': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":"\\ud83d"}',
  'JSON numbers': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":[1,1.0,1e3,-0,1E+2,0.5,1e20]}',
  'JSON keys twice': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":1,"v":2}',
  'JSON with a leading zero': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":08}',
  'JSON with NaN': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":NaN}',
  'JSON with a control character': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":"a\u0001b"}',
  'JSON with DEL': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":"a\u007fb"}',
  'JSON with a raw tab': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"v":"a\tb"}',
  'JSON with a key over 1024 characters': `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"${'k'.repeat(1030)}":1}`,
  'JSON with a merge sign': '{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"a"},"<<":{"x":1}}',
  'JSON list': `[${json('a')}]`,
  'a control character': `${ok('a')}v: "a\u0001b"\n`,
  DEL: `${ok('a')}v: "a\u007fb"\n`,
  'a control character in a comment': `${ok('a')}# a\u0001b\n`,
  NUL: `${ok('a')}v: "a\u0000b"\n`,
  'a C1 control': `${ok('a')}v: "a\u0080b"\n`,
  'NEL in quotes': `${ok('a')}v: "a\u0085b"\n`,
  'a line separator in quotes': `${ok('a')}v: "a\u2028b"\n`,
  'U+FFFE': `${ok('a')}v: "a\ufffeb"\n`,
  emoji: `${ok('a')}v: 😀\nw: "😀"\n`,
  'a List': `apiVersion: v1\nkind: List\nitems:\n- ${json('a')}\n- ${json('b')}\n`,
  'a List in a List': `apiVersion: v1\nkind: List\nitems:\n- apiVersion: v1\n  kind: List\n  items:\n  - ${json('a')}\n`,
  'an empty List': 'apiVersion: v1\nkind: List\nitems: []\n',
  'a List without items': 'apiVersion: v1\nkind: List\n',
  'a typed list': `apiVersion: v1\nkind: ConfigMapList\nitems:\n- ${json('a')}\n`,
  'a typed list with bare items': 'apiVersion: v1\nkind: ConfigMapList\nitems:\n- metadata: {name: a}\n',
  'a List with a bare item': 'apiVersion: v1\nkind: List\nitems:\n- metadata: {name: a}\n',
  'no kind': 'apiVersion: v1\nmetadata: {name: a}\n',
  'no apiVersion': 'kind: ConfigMap\nmetadata: {name: a}\n',
  'kind in another case': 'apiVersion: v1\nkind: configmap\nmetadata: {name: a}\n',
  'a Windows path': `${ok('a')}v: C:\\a\\b\n`,
  'flow in the first column': `${ok('a')}v: {\n  b: [1, # one\n2,\n\n"x\n\ny", 'it''s # no\n  comment'], # c\nc: d\n e\n}\nw: |\n  [not\n   flow\nx:\n- - {\na: 1 }\n- a: "b\nc"\n  d: [\n]\n`,
  'flow in the first column, glued': `${ok('a')}v: {a: [b, c:],\nd: 1}\n`,
  'a go template': `${ok('a')}v: {{ .Values.a }}\n`,
  'indented as a whole': ok('a').replaceAll(/^/gm, '  ').trimEnd(),
  'a marker that is indented': ` ---\n${ok('a')}`,
  'a plain scalar at column 0': `${ok('a')}v: a\nb\n`,
};

/** The whole corpus, one file each. */
export function corpus(): { name: string; text: string }[] {
  return [
    ...[...new Set(scalars)].map((scalar) => ({
      name: `scalar ${JSON.stringify(scalar)}`,
      text: `${head}v: ${scalar}\n`,
    })),
    ...[...new Set(scalars)]
      .filter((scalar) => !/[{}[\],]/.test(scalar))
      .map((scalar) => ({ name: `scalar ${JSON.stringify(scalar)} in a list`, text: `${head}v: [${scalar}]\n` })),
    ...Object.entries(values).map(([name, value]) => ({ name: `value: ${name}`, text: `${head}v: ${value}\n` })),
    ...Object.entries(files).map(([name, text]) => ({ name: `file: ${name}`, text })),
  ];
}

/** The objects in the output of `kubectl -o json`: one after the other, each from `{` to `}` in the first column. */
function printed(stdout: string): JsonObject[] {
  return stdout
    .split(/^(?=\{)/m)
    .filter((text) => text.trim() !== '')
    .map((text) => JSON.parse(text));
}

/** The parts of an API server that kubectl queries before it prints: which kinds there are. */
const discovery: Record<string, object> = {
  '/api': { kind: 'APIVersions', versions: ['v1'], serverAddressByClientCIDRs: [] },
  '/apis': { kind: 'APIGroupList', apiVersion: 'v1', groups: [] },
  '/api/v1': {
    kind: 'APIResourceList',
    groupVersion: 'v1',
    resources: [
      { name: 'configmaps', singularName: 'configmap', namespaced: true, kind: 'ConfigMap', verbs: ['create', 'get'] },
    ],
  },
};

const run = promisify(execFile);

/** How kubectl reads texts; call `end` after the last one. */
export interface Kubectl {
  ask(text: string): Promise<Pick<KubectlReading, 'objects' | 'error'>>;
  /** How it reads many texts at once: all objects, and the index of each text whose error names its file. */
  askAll(texts: readonly string[]): Promise<{ objects: JsonObject[]; refused: number[] }>;
  end(): void;
}

/** Kubectl with a server of its own on loopback, in a folder of its own. */
export async function startKubectl(): Promise<Kubectl> {
  const folder = mkdtempSync(join(tmpdir(), 'kubectl-yaml-'));
  const server = createServer((request, response) => {
    const found = discovery[request.url?.split('?')[0] ?? ''];
    response.writeHead(found === undefined ? 404 : 200, { 'content-type': 'application/json' });
    response.end(JSON.stringify(found ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const file = join(folder, 'x.yaml');
  const args = ['create', '--dry-run=client', '--validate=false', '-o', 'json', '--server', url];
  const env = { ...process.env, KUBECONFIG: '/dev/null', HOME: folder };
  return {
    async ask(text) {
      writeFileSync(file, text);
      try {
        return { objects: printed((await run('kubectl', [...args, '-f', file], { env })).stdout) };
      } catch (error) {
        const { stdout = '', stderr = '' } = error as { stdout?: string; stderr?: string };
        return { objects: printed(stdout), error: (stderr.split('\n')[0] ?? '').replaceAll(file, 'FILE') };
      }
    },
    async askAll(texts) {
      const files = texts.map((text, index) => {
        const path = join(folder, `${index}.yaml`);
        writeFileSync(path, text);
        return path;
      });
      const options = { env, maxBuffer: 64 * 1024 * 1024 };
      const { stdout, stderr } = await run(
        'kubectl',
        [...args, ...files.flatMap((path) => ['-f', path])],
        options,
      ).catch((error: { stdout: string; stderr: string }) => error);
      const named = new Set(stderr.match(/[^\s:"]+\/\d+\.yaml/g));
      return { objects: printed(stdout), refused: files.flatMap((path, index) => (named.has(path) ? [index] : [])) };
    },
    end() {
      server.close();
      server.closeAllConnections();
      rmSync(folder, { recursive: true });
    },
  };
}

/** Runs kubectl on the whole corpus. */
export async function recordKubectlYaml(): Promise<KubectlReading[]> {
  const kubectl = await startKubectl();
  const readings: KubectlReading[] = [];
  try {
    for (const { name, text } of corpus()) {
      readings.push({ name, text, ...(await kubectl.ask(text)) });
    }
  } finally {
    kubectl.end();
  }
  return readings;
}
