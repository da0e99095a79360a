import { expect, test } from 'vitest';
import { rulesBudget } from '../../../src/kubernetes/cel/cel-budget.ts';
import { matchesConditions, validateRules } from '../../../src/kubernetes/cel/index.ts';
import type { ValidationRule } from '../../../src/kubernetes/cel/rule.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { collectGarbage } from '../../support/collect-garbage.ts';
import { limitWork } from '../../support/work.ts';

const anything = { 'x-kubernetes-preserve-unknown-fields': true } as Schema;

function problems(rule: ValidationRule, self: Json, budget = { left: rulesBudget }): string[] {
  const schema: Schema = { type: 'object', properties: { spec: { ...anything, 'x-kubernetes-validations': [rule] } } };
  return validateRules({ spec: self }, undefined, schema, { budget }).map(({ message }) => message);
}

const nested = (macro: string, depth: number, inside: string) =>
  Array.from({ length: depth }).reduceRight<string>((inner, _, i) => `self.list.${macro}(x${i}, ${inner})`, inside);
const numbers = Array.from({ length: 20 }, (_, i) => i);
const long = 'ab'.repeat(500_000);
/** A value that is doubled 40 times. */
function doubled(start: string): string {
  const bindings = Array.from({ length: 40 }, (_, i) => `cel.bind(v${i + 1}, v${i} + v${i}, `).join('');
  return `cel.bind(v0, ${start}, ${bindings}v40 == v39${')'.repeat(41)}`;
}

test('an expression is stopped when it costs more than one may, and others have what is left', () => {
  const budget = { left: rulesBudget };
  const [problem, ...others] = problems({ rule: nested('all', 12, 'true') }, { list: numbers }, budget);
  expect(problem).toContain('operation cancelled: actual cost limit exceeded');
  expect(others).toEqual([]);
  expect(Math.round(budget.left / 1000)).toBe(9_000);
});

/** The cost of a rule for a value. */
function costOf(rule: string, self: Json): number {
  const budget = { left: rulesBudget };
  problems({ rule }, self, budget);
  return Math.round((rulesBudget - budget.left) * 1000) / 1000;
}

test('an error that an expression absorbs costs as much as twenty steps', () => {
  const rule = 'self.list.all(x, bool(self.text) || true)';
  const [none, absorbed] = ['f', 'x'].map((text) => costOf(rule, { list: numbers, text }));
  // Charged when the part that has failed begins again; what has failed was no step.
  expect(absorbed! - none!).toBe(20 * (numbers.length - 1) - numbers.length);
});

test.each([
  ['and', (count: number) => Array(count).fill('self.yes').join(' && ')],
  ['or', (count: number) => `${Array(count).fill('self.no').join(' || ')} || true`],
])('a chain of ten thousand operands is evaluated: %s', (_name, chain) => {
  expect(problems({ rule: chain(10_000) }, { yes: true, no: false })).toEqual([]);
});

test.each([
  100, 1_000, 2_000, 5_000, 20_000,
])('a sum of %d numbers is evaluated, or too deep: it does not end the program', (count) => {
  const found = problems({ rule: `${Array(count).fill('self.n').join(' + ')} > 0` }, { n: 1 });
  expect(found.filter((problem) => !problem.includes('Maximum call stack size exceeded'))).toEqual([]);
});

test('small numbers, texts with quotes, and bytes are evaluated as they are written', () => {
  const rule = `self.n > 0.000000000001 && self.text == "it's \\"\\u00e9\\"" && b'\\xff' != b'\\xfe' && 0x10u == 16u`;
  expect(problems({ rule: rule.replaceAll('\\\\', '\\') }, { n: 0.00000000001, text: 'it\'s "é"' })).toEqual([]);
});

test.each([
  'self.?none.orValue(1) == 1',
  'self.?n.hasValue() && self.list[?9].orValue(7) == 7',
  'optional.of(self.n).or(optional.none()).value() == 2',
  'cel.bind(twice, self.n + self.n, twice == 4)',
  'self.list.map(x, x > 1, x * 2) == [4, 6] && self.list.filter(x, x > 1).size() == 2',
  'self.list.exists_one(x, x == 2) && has(self.map.a) && !has(self.map.b)',
  "{'a': 2, 'b': 3}['a'] == self.n && ['x', 'y'][1] == 'y'",
  "self.n > 1 ? self.text == 'abc' : false",
  "self.text.matches('^a.c$') && !self.text.matches('^b')",
  '-self.n == -2 && !(self.n == 3) && (self.n + 1) * 2 == 6 && self.n + 1 * 2 == 4',
  "self.text in ['abc'] && 'a' in self.map && timestamp('2020-01-02T00:00:00Z').getFullYear() == 2020",
])('metered, an expression has the value that it has without: %s', (rule) => {
  const self = { n: 2, text: 'abc', list: [1, 2, 3], map: { a: 1 } };
  expect(problems({ rule }, self)).toEqual([]);
  expect(problems({ rule: `!(${rule})` }, self)).toHaveLength(1);
});

// Five hundred of the largest took gigabytes.
test('compiled patterns are kept by their size, and compiled and charged again after that', () => {
  const cost = (pattern: string) => costOf(`self.text.matches('${pattern}')`, { text: 'a' });
  const large = (name: string) => `^(a|${name}b{900})$`;
  const first = cost(large('first'));
  expect(cost(large('first'))).toBeLessThan(first / 100);
  for (let count = 0; count < 24; count++) {
    cost(large(`other${count}`));
  }
  expect(cost(large('first'))).toBe(first);
});

const padded = (name: string) => `'${name}' == '' || true // ${'x'.repeat(100_000)}`;

// Three hundred of seven thousand characters took 240 megabytes for as long as the process ran.
test('compiled rules are kept by their length, and compiled again after that', () => {
  const compiled = (name: string) => {
    const budget = { left: rulesBudget, compiled: 0 };
    problems({ rule: padded(name) }, {}, budget);
    return budget.compiled;
  };
  expect(compiled('first')).toBe(padded('first').length);
  expect(compiled('first')).toBe(0);
  for (const other of ['a', 'b', 'c', 'd']) {
    compiled(other);
  }
  expect(compiled('first')).toBe(padded('first').length);
});

test('for one object, rules are compiled up to a maximum length', () => {
  const rules = Array.from({ length: 6 }, (_, index) => ({ rule: padded(`many${index}`) }));
  const schema = { ...anything, 'x-kubernetes-validations': rules } as Schema;
  expect(validateRules({}, undefined, schema).map(({ message }) => message)).toEqual([
    expect.stringContaining('validation failed due to running out of cost budget'),
  ]);
});

const ofLength = (length: number) => ({ a: 'a'.repeat(length), b: 'a'.repeat(length), list: Array(length).fill('a') });
test.each<[string, number]>([
  ['self.a == self.b', 100],
  ["self.a != 'b'", 0],
  ["self.a < 'b'", 100],
  ["self.a + 'b' != ''", 100],
  ["'b' in self.list || true", 1100],
  ['self.list == self.list', 1100],
  ["self.list + ['b'] != []", 1000],
  // Reading the text, and comparing each of its characters.
  ["self.a.contains('aa')", 100 + 20],
  ["self.a.indexOf('aa') == 0", 100 + 20],
  ["self.a.lastIndexOf('aa') > 0", 100 + 20],
  ["self.a.split('b').size() == 1", 100 + 10],
  ["self.list.join('aaa').size() > 0", 1100 + 300 + 400],
  ['self.a.size() > 0', 100],
  ['self.list.size() > 0', 0],
  ["self.a.startsWith('b') || true", 100],
])('%s costs %d more for a thousand more characters or items', (rule, more) => {
  expect(costOf(rule, ofLength(1010)) - costOf(rule, ofLength(10))).toBeCloseTo(more, 5);
});

// Each of these blocked the sandbox forever, or for minutes, or took all memory.
test.each<[string, string, Json]>([
  ['twelve nested all', nested('all', 12, 'true'), { list: numbers }],
  ['twelve nested exists', nested('exists', 12, 'false'), { list: numbers }],
  ['nested exists_one', nested('exists_one', 12, 'false'), { list: numbers }],
  ['nested map', `${nested('map', 12, 'x1')}.size() > 0`, { list: numbers }],
  ['errors that all and || absorb', nested('all', 12, "int('x') > 1 || int('y') > 1"), { list: numbers }],
  ['a text that is doubled', doubled('self.text'), { text: 'x' }],
  ['a list that is doubled', doubled('self.list'), { list: numbers }],
  ['a list in a long list', 'self.list.all(x, x in self.list)', { list: Array.from({ length: 5_000 }, (_, i) => i) }],
  [
    'a long list compared often',
    'self.list.all(x, self.list == self.other)',
    {
      list: Array(2_000).fill(1),
      other: Array(2_000).fill(1),
    },
  ],
  [
    'a long text read often',
    'self.list.all(x, self.text.size() > 0)',
    { list: Array(2_000).fill(1), text: long.slice(0, 50_000) },
  ],
  ['a text searched for a long one', "self.text.contains(self.text + 'c')", { text: long }],
  ['a text that is joined', "self.list.join(self.text) != ''", { list: Array(1_000).fill(''), text: long }],
  [
    'patterns made at run time',
    "self.list.all(x, !'y'.matches('^' + x + '+$'))",
    {
      list: Array.from({ length: 2_000 }, (_, i) => `a${i}`),
    },
  ],
  ['a large pattern and a long text', "self.text.matches('^[ab]*a[ab]{90}$')", { text: long.slice(0, 100_000) }],
])('%s: stopped', (_name, rule, self) => {
  using _work = limitWork(2_000);
  // A tenth of what one expression may cost, and a hundredth of what those for an object may.
  expect(problems({ rule }, self, { left: 100_000 })).toEqual([
    expect.stringContaining('validation failed due to running out of cost budget'),
  ]);
});

test('values created by a stopped expression are not retained', () => {
  const heap = () => {
    collectGarbage();
    return process.memoryUsage().heapUsed;
  };
  // Each creates lists of a quarter of a million numbers and half as many, a quarter as many, and so on.
  const stop = (name: string) => problems({ rule: doubled(`self.${name}`) }, { [name]: numbers }, { left: 300_000 });
  stop('a');
  const before = heap();
  const names = ['b', 'c'];
  expect(names.map(stop).map(({ length }) => length)).toEqual([1, 1]);
  expect(heap() - before).toBeLessThan(2_000_000);
});

test('matches takes linear time, whatever the pattern', () => {
  using _work = limitWork(2_000);
  expect(problems({ rule: "!self.text.matches('^(a+)+$')" }, { text: `${'a'.repeat(10_000)}!` })).toEqual([]);
  expect(problems({ rule: "self.text.matches('(?=a)')" }, { text: 'a' })).toEqual([
    expect.stringContaining('error parsing regexp: invalid or unsupported Perl syntax'),
  ]);
});

test('a long text that is not a duration is rejected quickly', () => {
  using _work = limitWork(2_000);
  expect(problems({ rule: "duration(self.text) > duration('1s')" }, { text: '1'.repeat(1_000_000) })).toHaveLength(1);
});

test('the rules of an object share a budget, and the first that is stopped stops them all', () => {
  // Each costs a tenth of the limit for one, and a hundredth of the limit for all.
  const rule = "self.text + 'c' != ''";
  const items: Schema = { ...anything, 'x-kubernetes-validations': [{ rule }] };
  const schema: Schema = { type: 'object', properties: { spec: { type: 'array', items } } };
  using _work = limitWork(15_000);
  const spec = Array.from({ length: 1_000 }, () => ({ text: long }));
  const causes = validateRules({ spec }, undefined, schema);
  expect(causes.map(({ message }) => message)).toEqual([
    expect.stringContaining(
      'validation failed due to running out of cost budget, no further validation rules will be run',
    ),
  ]);
});

test('ordinary rules for large objects stay within the budget', () => {
  const list = Array.from({ length: 5_000 }, (_, i) => ({ name: `item-${i}`, port: i }));
  const map = Object.fromEntries(list.map(({ name, port }) => [name, port]));
  const rule = [
    'self.list.all(i, i.port >= 0 && i.name.startsWith("item-") && i.name.size() < 64)',
    "self.list.all(i, i.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
    'self.list.all(i, i.name in self.map && self.map[i.name] == i.port)',
    'self.map.all(k, has(self.map) && k.contains("item"))',
    'self == self && self.list.map(i, i.port).size() == self.list.size()',
  ];
  for (const text of rule) {
    expect(problems({ rule: text }, { list, map })).toEqual([]);
  }
});

test('a messageExpression is stopped too, and its text is limited', () => {
  const rule = { rule: 'false', messageExpression: 'self.text + self.text' };
  expect(problems(rule, { text: 'x'.repeat(10_000) })[0]?.length).toBeLessThan(6_000);
  expect(problems({ ...rule, messageExpression: doubled('self.text') }, { text: 'x' })).toEqual([
    expect.stringContaining('failed rule: false'),
  ]);
});

test('rules at every level of a deep object convert it once', () => {
  let schema: Schema = { type: 'object', properties: { list: anything } };
  let value: JsonObject = { list: Array(100_000).fill(1) };
  for (let i = 0; i < 200; i++) {
    schema = { type: 'object', properties: { a: schema }, 'x-kubernetes-validations': [{ rule: 'has(self.a)' }] };
    value = { a: value };
  }
  using _work = limitWork(2_000);
  expect(validateRules(value, undefined, schema)).toEqual([]);
});

test('items of a long list are matched with their old versions', () => {
  const items: Schema = { ...anything, 'x-kubernetes-validations': [{ rule: 'self.v >= oldSelf.v' }] };
  const list = {
    type: 'array',
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['name'],
    items,
  } as Schema;
  const schema: Schema = { type: 'object', properties: { list } };
  const object = (v: number) => ({ list: Array.from({ length: 5_000 }, (_, i) => ({ name: `n${i}`, v })) });
  using _work = limitWork(1_000);
  expect(validateRules(object(2), { list: object(1).list.toReversed() }, schema)).toEqual([]);
});

test('match conditions of webhooks have their own budget', () => {
  const object = { list: numbers };
  const expression = nested('all', 12, 'true').replaceAll('self', 'object');
  using _work = limitWork(5_000);
  const conditions = Array.from({ length: 64 }, (_, i) => ({ name: `c${i}`, expression }));
  // The first as much as one expression may cost, the last none of what is left for all.
  expect(() => matchesConditions(conditions, { object })).toThrow(
    /: c0: operation cancelled: actual cost limit exceeded; .*c63: validation failed due to running out of cost/,
  );
});
