import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { renderValueTemplate, watchReads } from '../../../src/topology/templates/index.ts';
import { expectLinear, limitWork } from '../../support/work.ts';

const many = 'more than 100000 steps';
const large = 'more than 1048576 bytes';

test.each([
  ['a list without end', '{{ until 1000000000 }}', many],
  ['a range without end', '{{ range 1000000000 }}{{ end }}', many],
  ['ranges in ranges', '{{ range 10000 }}{{ range 10000 }}{{ end }}{{ end }}', many],
  ['recursion', '{{ define "r" }}{{ template "r" }}{{ end }}{{ template "r" }}', 'more than 250 levels deep'],
  ['a repeated text', '{{ repeat 1000000000 "x" }}', large],
  ['a wide number', '{{ printf "%*d%*d" 1000000 1 1000000 1 }}', large],
  ['lists that double', '{{ $l := list 1 }}{{ range 60 }}{{ $l = concat $l $l }}{{ end }}', large],
  ['texts that double', '{{ $s := "x" }}{{ range 60 }}{{ $s = print $s $s }}{{ end }}', many],
  ['maps that share', '{{ $d := dict }}{{ range 40 }}{{ $d = dict "a" $d "b" $d }}{{ end }}{{ toJson $d }}', many],
  ['a map in itself', '{{ $d := dict }}{{ $_ := set $d "d" $d }}{{ deepCopy $d }}', 'deeper than 256 levels'],
  ['parentheses', `{{ ${'('.repeat(500)}1${')'.repeat(500)} }}`, 'deeper than 250 levels'],
  ['a chain of else if', `{{ if 0 }}${'{{ else if 0 }}'.repeat(300)}{{ end }}`, 'deeper than 250 levels'],
  ['reading a large text often', '{{ $s := repeat 1000000 "x" }}{{ range 9000 }}{{ contains "y" $s }}{{ end }}', many],
  ['a large pattern', '{{ mustRegexMatch "((a{1,100}){1,100}){1,100}" "a" }}', 'expression too large'],
  ['a search that reads on', '{{ regexFindAll "a*b|a" (repeat 30000 "a") -1 }}', many],
  ['a long replacement', '{{ regexReplaceAll "a" (repeat 9000 "a") (repeat 20000 "$9") }}', many],
  ['a long part', '{{ contains (print (repeat 400000 "x") "y" (repeat 90000 "x")) (repeat 1000000 "x") }}', many],
  [
    'constraints in a loop',
    '{{ range 9000 }}{{ semverCompare (print (repeat 300 "1||") "1") "1.2.3" }}{{ end }}',
    many,
  ],
  ['changing case in a loop', '{{ $s := repeat 700000 "x" }}{{ range 90 }}{{ $t := untitle $s }}{{ end }}', many],
  ['decimals that grow', `{{ mulf 1 ${'1.123456789 '.repeat(2_000)}}}`, many],
  ['texts of all arguments', `{{ $s := repeat 500000 "x" }}{{ quote ${'$s '.repeat(30)}}}`, many],
  ['many arguments', `{{ print ${'1 '.repeat(110_000)}}}`, 'more than 200000 tokens'],
])('%s is refused', (_name, template, message) => {
  using _work = limitWork(1_500);
  expect(() => renderValueTemplate(template, {})).toThrow(message);
});

test('a rendering has a budget of its own, also while another one reads', () => {
  const variables = { builtin: { name: 'a' } };
  watchReads(variables, () => renderValueTemplate('{{ range 10 }}{{ end }}', {}));
  expect(() => renderValueTemplate('{{ range 60000 }}{{ $.builtin.name }}{{ end }}', variables)).toThrow(many);
  expect(renderValueTemplate('{{ range 5 }}{{ $.builtin.name }}{{ end }}', variables)).toBe('aaaaa');
});

test('renderings that take turns share no budget, also where one of them is refused', () => {
  const variables = { builtin: { first: 'a', second: 'b' } };
  watchReads(variables, (text) => {
    const render = () => renderValueTemplate(`{{ range ${text === 'a' ? 90_000 : 110_000} }}{{ end }}done`, {});
    if (text === 'a') {
      expect(render()).toBe('done');
    } else {
      expect(render).toThrow(many);
    }
  });
  const reads = '{{ range 3 }}{{ $.builtin.first }}{{ range 30000 }}{{ end }}{{ $.builtin.second }}{{ end }}';
  expect(renderValueTemplate(reads, variables)).toBe('ababab');
});

function yamlOf(text: string): unknown {
  return renderValueTemplate('{{ .text }}', { text });
}

test.each([
  [
    'aliases of aliases',
    `a: &a [x,x,x,x,x,x,x,x,x]\n${['b', 'c', 'd', 'e', 'f', 'g', 'h'].map((name, index) => `${name}: &${name} [${`*${'abcdefg'[index]},`.repeat(9)}]`).join('\n')}`,
    'too much of the document comes from aliases',
  ],
  [
    'a long text with aliases',
    `a: &a "${'x'.repeat(100_000)}"\nb: [${'*a,'.repeat(9_000)}]`,
    'too much of the document comes from aliases',
  ],
  ['a long text', 'x'.repeat(131_073), 'renders to more than 131072 characters'],
  ['lists in lists', '['.repeat(10_000), 'nests deeper than 256 levels'],
  ['lists after a list', `${'[]'.repeat(60_000)}:`, 'Unexpected flow-seq-start'],
  ['entries in entries', '- '.repeat(10_000), 'nests deeper than 256 levels'],
])('YAML with %s is refused', (_name, text, message) => {
  using _work = limitWork(1_500);
  expect(() => yamlOf(text)).toThrow(message);
});

test('a variable that nests too deep is refused', () => {
  const nested = JSON.parse('['.repeat(5_000) + ']'.repeat(5_000)) as Json;
  expect(() => renderValueTemplate('a', { nested })).toThrow('JSON nests deeper than 256 levels');
});

test.each([
  [
    'variables',
    (size: number) =>
      `{{ if 0 }}${Array.from({ length: size }, (_, index) => `{{ $x${index} := 1 }}{{ $x0 }}`).join('')}{{ end }}`,
  ],
  ['trims', (size: number) => '  {{- 1 -}}  '.repeat(size)],
  ['lines of YAML', (size: number) => 'a: [1, "b"]\n'.repeat(size)],
  ['a block of YAML', (size: number) => `a: >\n${'  text\n'.repeat(size)}`],
])('%s take time in proportion to their number', async (_name, template) => {
  let runs = 0;
  await expectLinear(8_000, async (size) => {
    // Another text each time: a parsed template is kept.
    expect(renderValueTemplate(`${template(size)}{{/* ${runs++} */}}`, {})).not.toBe('');
  });
});
