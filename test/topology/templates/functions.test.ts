import { expect, test } from 'vitest';
import { NotKnown } from '../../../src/topology/index.ts';
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

/** Calls, and what Go makes of them, of functions that the recordings hardly have. An error is without its place. */
const calls: [string, unknown][] = [
  // text/template
  ['call .m', fails('the template calls a value that is not a function')],
  ['len nil', fails('error calling len: reflect: call of reflect.Value.Type on zero Value')],
  ['index .l 9', fails('error calling index: index out of range: 9')],
  ['eq .n 3', fails('error calling eq: incompatible types for comparison: float64 and int')],
  ['eq .m .m', fails('the template compares lists, maps or versions')],
  ['lt 1 1.5', fails('error calling lt: incompatible types for comparison: int and float64')],
  ['le 2 2', true],
  ['gt 2 1', true],
  ['ge 1.5 1.5', true],
  ['println 1 "a"', '1 a\n'],
  ['urlquery "a b&c/d"', 'a+b%26c%2Fd'],
  ['printf "%.3d|%.0d|%"  7 0', '007||%!(NOVERB)'],
  ['printf "%.60f" 0.5', `0.5${'0'.repeat(59)}`],
  ['uniq (list 0.5 (fromJson "1") 0.5 1)', [0.5, 1, 1]],
  ['js "a"', fails('the template calls js, which escapes a text for JavaScript and is not computed')],
  // text
  ['abbrev 8 "hello world"', 'hello...'],
  ['abbrev 3 "hello"', 'hello'],
  ['lower "HÉLLO İ"', 'héllo i'],
  ['untitle "Hello World"', 'hello world'],
  ['substr 1 3 "hello"', 'el'],
  ['substr -1 3 "hello"', 'hel'],
  ['substr 2 -1 "hello"', 'llo'],
  ['substr 3 2 "hello"', fails('error calling substr: runtime error: slice bounds out of range [3:2]')],
  ['repeat 3 "ab"', 'ababab'],
  ['repeat -1 "ab"', fails('error calling repeat: strings: negative Repeat count')],
  ['trimall "$" "$5.00$"', '5.00'],
  ['trimSuffix "-" "a--"', 'a-'],
  ['initials "First Try again"', 'FTa'],
  [
    'swapcase "a"',
    fails(
      'the template calls swapcase, which changes a text in a way that names and fields rarely need and is not computed',
    ),
  ],
  ['wrapWith 4 "\\t" "hello world"', 'hell\to\tworl\td'],
  ['contains "ell" "hello"', true],
  ['contains 1 "a"', fails('expected string; found 1')],
  ['hasSuffix "lo" "hello"', true],
  [`squote "it's" 2 nil`, "'it's' '2'"],
  ['nindent 2 "a\\nb"', '\n  a\n  b'],
  ['plural "one" "many" 1', 'one'],
  ['plural "one" "many" 2', 'many'],
  ['toStrings (list 1 "a" nil)', ['1', 'a']],
  ['b32enc "hi"', 'NBUQ===='],
  ['b32dec "NBUQ===="', 'hi'],
  ['b32dec "1"', 'illegal base32 data at input byte 0'],
  ['shuffle "aaa"', 'aaa'],
  ['fail "no such thing"', fails('error calling fail: no such thing')],
  // lists
  ['tuple 1 2', [1, 2]],
  ['append nil 1', fails('error calling append: runtime error: invalid memory address or nil pointer dereference')],
  ['append "x" 1', fails('error calling append: Cannot push on type string')],
  ['push (list 1) 2', [1, 2]],
  ['mustAppend (list) 1', [1]],
  ['mustPush (list 1) nil', [1, null]],
  ['prepend (list 1) 2', [2, 1]],
  ['mustPrepend (list 1) 2', [2, 1]],
  ['mustFirst "x"', fails('error calling mustFirst: Cannot find first on type string')],
  ['mustLast nil', fails('error calling mustLast: runtime error: invalid memory address or nil pointer dereference')],
  ['mustRest (list 1)', []],
  ['initial (list 1 2 3)', [1, 2]],
  ['mustInitial (list)', null],
  ['reverse (list 1 2 3)', [3, 2, 1]],
  ['mustReverse (list 1 2)', [2, 1]],
  ['compact (list 1 0 "" nil "a" false (list))', [1, 'a']],
  ['mustCompact (list 0 1)', [1]],
  ['mustUniq (list "a" "a")', ['a']],
  ['without (list 1 2 3) 1 3', [2]],
  ['mustWithout (list "a" "b") "a"', ['b']],
  ['mustHas "a" (list "a")', true],
  ['slice "abc" 1', fails('error calling slice: list should be type of slice or array but string')],
  ['mustSlice (list 1 2) 5', fails('error calling mustSlice: reflect.Value.Slice: slice index out of bounds')],
  ['chunk 2 (list 1 2 3)', [[1, 2], [3]]],
  ['chunk 0 (list 1)', fails('error calling chunk: runtime error: makeslice: len out of range')],
  ['mustChunk 3 (list)', []],
  ['concat (list 1) "x"', fails('error calling concat: Cannot concat type string as list')],
  // maps
  ['get (dict "a" 1) "a"', 1],
  ['get (dict "a" 1) "b"', ''],
  ['set (dict "a" 1) "b" 2', { a: 1, b: 2 }],
  ['unset (dict "a" 1 "b" 2) "a"', { b: 2 }],
  ['pluck "a" (dict "a" 1) (dict "b" 2) (dict "a" 3)', [1, 3]],
  ['pick (dict "a" 1 "b" 2) "a" "c"', { a: 1 }],
  ['omit (dict "a" 1 "b" 2) "a"', { b: 2 }],
  ['mustMerge (dict "a" 0) (dict "a" 2)', { a: 2 }],
  ['mustMergeOverwrite (dict "a" (dict "b" 1)) (dict "a" (dict "b" 2 "c" 3))', { a: { b: 2, c: 3 } }],
  ['deepCopy nil', fails('error calling deepCopy: reflect: call of reflect.Value.Type on zero Value')],
  ['mustDeepCopy (list 1 (dict))', [1, {}]],
  ['dig "a"', fails('error calling dig: dig needs at least three arguments')],
  [
    'dig "s" "x" 0 .',
    fails('error calling dig: interface conversion: interface {} is string, not map[string]interface {}'),
  ],
  // defaults and types
  ['all 1 "a"', true],
  ['all 1 0', false],
  ['any 0 ""', false],
  ['any 0 1', true],
  ['typeIsLike "semver.Version" (semver "1.2.3")', true],
  // numbers
  ['add1 1', 2],
  ['div 7 2', 3],
  ['div 1 0', fails('error calling div: runtime error: integer divide by zero')],
  ['mod 7 -3', 1],
  ['randInt 5 6', 5],
  ['randInt 6 5', fails('error calling randInt: invalid argument to Intn')],
  ['add1f 1.1', 2.1],
  ['addf 0.1 0.2', 0.3],
  ['subf 1.1 0.1 0.5', 0.5],
  ['divf 1 0', fails('error calling divf: decimal division by 0')],
  ['biggest 2 7', 7],
  ['min 3 -1', -1],
  ['maxf 1.5 2.5', 2.5],
  ['minf 1.5 2.5', 1.5],
  // JSON
  ['mustToJson "x"', '"x"'],
  ['toPrettyJson (dict "a" (list 1))', '{\n  "a": [\n    1\n  ]\n}'],
  ['mustToPrettyJson (list)', '[]'],
  ['toRawJson "<é>"', '"<é>"'],
  ['mustToRawJson (dict "a" 1)', '{"a":1}'],
  ['mustFromJson "[1,2.5]"', [1, 2.5]],
  ['mustFromJson "{"', fails('error calling mustFromJson: unexpected end of JSON input')],
  ['mustFromJson "[1,]"', fails('error calling mustFromJson: the text is not JSON')],
  // patterns
  ['mustRegexMatch "(" "abc"', fails('error calling mustRegexMatch: error parsing regexp: missing closing ): `(`')],
  ['mustRegexFindAll "a" "aaa" -1', ['a', 'a', 'a']],
  ['regexFind "b+" "abbc"', 'bb'],
  ['mustRegexFind "x" "abbc"', ''],
  [
    'regexFind "(" "a"',
    fails('error calling regexFind: regexp: Compile(`(`): error parsing regexp: missing closing ): `(`'),
  ],
  ['mustRegexReplaceAll "a(x*)b" "-ab-axxb-" "$1W"', '---'],
  ['regexReplaceAllLiteral "a(x*)b" "-ab-" "$1"', '-$1-'],
  ['mustRegexReplaceAllLiteral "a" "banana" "o"', 'bonono'],
  ['regexSplit "z+" "pizza" -1', ['pi', 'a']],
  ['mustRegexSplit "," "a,b,c" 2', ['a', 'b,c']],
  ['regexQuoteMeta "1.2[3]"', '1\\.2\\[3\\]'],
  // versions
  ['semver "x"', fails('error calling semver: invalid semantic version')],
  // paths
  ['clean "/a/../b//c"', '/b/c'],
  ['osBase "/"', '/'],
  ['osDir "a"', '.'],
  ['osClean ""', '.'],
  ['osExt ".x"', '.x'],
  ['osIsAbs "a"', false],
  // URLs
  [
    'urlJoin (dict "host" 1)',
    fails('error calling urlJoin: unable to parse host key, must be of type string, but int found'),
  ],
  // hashes
  ['sha1sum "a"', '86f7e437faa5a7fce15d1ddcb9eaeaea377667b8'],
  ['sha256sum "a"', 'ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb'],
  [
    'sha512sum "a"',
    '1f40fc92da241694750979ee6cf582f2d5d7d28e18335de05abc54d0560e0f5302860c652bf08d560252aa5e74210546f369fbbbce8c12cfc7957b2652fe9a75',
  ],
  // not in Cluster API's map
  ['now', fails('1: function "now" not defined')],
  ['env "HOME"', fails('1: function "env" not defined')],
  ['expandenv "$HOME"', fails('1: function "expandenv" not defined')],
  ['uuidv4', fails('1: function "uuidv4" not defined')],
  ['randAlphaNum 5', fails('1: function "randAlphaNum" not defined')],
  ['date "2006" 0', fails('1: function "date" not defined')],
  ['getHostByName "x"', fails('1: function "getHostByName" not defined')],
  ['htmlDate 0', fails('1: function "htmlDate" not defined')],
];

test.each([
  ['genCA "a" 1', 'the template calls genCA, which makes a key, a certificate or a hash that differs each time'],
  [
    'htpasswd "a" "c"',
    'the template calls htpasswd, which makes a key, a certificate or a hash that differs each time',
  ],
  ['derivePassword 1 "pin" "p" "u" "s"', 'the template calls derivePassword, which works with secrets'],
  ['toDate "2006" "2024"', 'the template calls toDate, which works with times'],
  ['shuffle "ab"', 'the template calls shuffle, which returns another result each time'],
  ['1e3i', 'the template has the complex number 1e3i'],
  ['printf "%d" (semver "1.2.3")', 'the template prints a *semver.Version with %d'],
  ['printf "%.3x" 1.5', 'the template prints 1.5 with %.3x'],
  ['printf "%f" 1e21', 'the template prints 1e+21 with %.6f'],
  ['printf "%.61f" 1.5', 'the template prints with %.61f'],
  ['mustRegexMatch "\\xff" "a"', 'the template has a pattern that is not UTF-8'],
  [
    'semverCompare (repeat 5000 "1") "1.2.3"',
    'the template compares a version with more than 4096 bytes of constraints',
  ],
  ['fromJson (print (repeat 300 "[") (repeat 300 "]"))', 'JSON nests deeper than 256 levels'],
])('%s is not known, and what to do is said', (call, why) => {
  const run = () => renderValueTemplate(`{{ ${call} }}`, variables);
  expect(run).toThrow(NotKnown);
  expect(run).toThrow(
    expect.objectContaining({ message: expect.stringContaining(why), remedy: expect.stringMatching(/./) }),
  );
});

test('calls with wrong arguments fail as in Go, also of functions that are not computed', () => {
  expect(() => renderValueTemplate('{{ genCA 1 }}', variables)).toThrow('wrong number of args for genCA: want 2 got 1');
});

function outcome(call: string): unknown {
  try {
    return renderValueTemplate(call.startsWith('{{') ? call : `{{ ${call} | toJson }}`, variables);
  } catch (error) {
    return fails(
      (error as Error).message.replace(/^.*": template: tpl:(?:1:[0-9]+: executing "tpl" at <.*?>: )?/s, ''),
    );
  }
}

testRows('calls give what Go makes of them', calls, (expected, call) => {
  expect(outcome(call)).toEqual(expected);
});
