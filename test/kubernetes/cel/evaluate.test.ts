import { Script } from 'node:vm';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { ValidationRule } from '../../../src/kubernetes/cel/index.ts';
import { matchesConditions, NotEvaluated, validateRules } from '../../../src/kubernetes/cel/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { limitWork, sized } from '../../support/work.ts';

const anything = { 'x-kubernetes-preserve-unknown-fields': true } as Schema;

function problems(rule: ValidationRule, self: Json, budget = { leftMs: 100_000 }): string[] {
  const schema: Schema = { type: 'object', properties: { spec: { ...anything, 'x-kubernetes-validations': [rule] } } };
  return validateRules({ spec: self }, undefined, schema, { budget }).map(({ message }) => message);
}

const nested = (macro: string, depth: number, inside: string) =>
  Array.from({ length: depth }).reduceRight<string>((inner, _, i) => `self.list.${macro}(x${i}, ${inner})`, inside);
const numbers = Array.from({ length: 20 }, (_, i) => i);
const inTime = 'could not be evaluated in time';
const tooCostly = 'its cost may exceed the limits of Kubernetes (1000000 an expression)';

test('rules that take too long are stopped wherever they are, which is no verdict', () => {
  const budget = { leftMs: 0 };
  expect(() => problems({ rule: 'true' }, {}, budget)).toThrow(new NotEvaluated(`the object: a rule ${inTime}`));
  let user = 0;
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => {
    user += 3_000_000;
    return { user, system: 0 };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const slow = { leftMs: 100 };
  expect(problems({ rule: 'true' }, {}, slow)).toEqual([]);
  // What shares the budget has none left.
  expect(() => problems({ rule: 'true' }, {}, slow)).toThrow(inTime);
});

test('rules whose cost may exceed the limit of Kubernetes are no verdict, however fast the machine is', () => {
  const rule = { rule: nested('all', 12, 'true') };
  expect(() => problems(rule, { list: numbers })).toThrow(tooCostly);
  // An alternative does not hide it.
  expect(() => problems({ rule: `(${rule.rule}) || true` }, { list: numbers })).toThrow(tooCostly);
});

const named = (count: number) => Array.from({ length: count }, (_, i) => ({ name: `n-${i}` }));

// By hand from cel-go's runtimecost.go, of which what is counted here is at least as much.
test.each<[string, number, Json]>([
  ['true', 0, {}],
  ['self.a.b', 3, { a: { b: true } }],
  ['self.n > 1', 3, { n: 2 }],
  ["self.t == 'abc'", 4, { t: 'abc' }],
  [`self.t == '${'x'.repeat(100)}'`, 2 + 11, { t: 'x'.repeat(100) }],
  ['self.t == self.u', 4 + 1 + 10, { t: 'x'.repeat(100), u: 'x'.repeat(100) }],
  ["self.t.startsWith('x')", 3 + 10, { t: 'x'.repeat(100) }],
  ["self.t.contains('xxxxxxxxxxx')", 3 + 10 * 2, { t: 'x'.repeat(100) }],
  ["self.t.matches('^x+$x?')", 3 + 11 * 2, { t: 'x'.repeat(100) }],
  ["'a' in self.l", 3 + 50, { l: Array(50).fill('a') }],
  ["'k1' in self.m", 3, { m: Object.fromEntries(Array.from({ length: 50 }, (_, i) => [`k${i}`, i])) }],
  ['self.l.all(i, i > 0)', 3 + 10 * (3 + 2), { l: Array(10).fill(1) }],
  ['self.l.map(i, i * 2).size() == 10', 5 + 10 * (12 + 2), { l: Array(10).fill(1) }],
  ["(self.t) + (self.t) == 'aa'", 2 + 2 + 2 + 2 + 1, { t: 'a' }],
])('%s costs %d', (rule, cost, self) => {
  const schema: Schema = { ...anything, 'x-kubernetes-validations': [{ rule }] };
  const within = (maxCost: number) => () => validateRules(self, undefined, schema, { maxCost });
  expect(within(cost)()).toEqual([]);
  expect(within(cost - 1)).toThrow(tooCostly);
});

test('rules that compare all items with each other are evaluated as far as Kubernetes evaluates them', () => {
  const unique = { rule: 'self.list.all(x, self.list.exists_one(y, y.name == x.name))' };
  expect(problems(unique, { list: named(300) })).toEqual([]);
  expect(problems(unique, { list: [...named(100), { name: 'n-1' }] })).toHaveLength(1);
  expect(() => problems(unique, { list: named(1_000) })).toThrow(tooCostly);
});

test.each([
  '((self.a) + self.b == (self.c)) && (self.l.all(x, (x > 1) || (x == 1)))',
  "(self.t).startsWith('(') && ((self.t)).contains(')') && self.t.matches('[)(]') && (self.t + ')') == self.t + ')'",
  'self.l.exists(x, (x) in (self.l)) && self.l.filter(x, (x > 1)).size() == 1 && self.l.map(x, (x) > 1, (x)) == [2]',
  'self.l.map(x, x + 1) == [2, 3] && self.l.all(x,(x>0)&&(x<3)) && (((self.a) in [1, 2]))',
  "cel.bind(y, (self.a), y == self.a) && ((self.t).split('(')).join('(') == self.t && self.t.endsWith('x')",
  "self.t == r'()x' && self.t != '''(''' && \"()x\" == self.t && duration(('1s')) < duration('2s')",
])('what is counted does not change the value of an expression: %s', (rule) => {
  const self = { a: 1, b: 2, c: 3, l: [1, 2], t: '()x' };
  expect(problems({ rule }, self)).toEqual([]);
  expect(problems({ rule: `!(${rule})` }, self)).toHaveLength(1);
});

test('rules that other programs keep waiting are evaluated: the limit is one of the CPU', () => {
  const { runInContext } = Script.prototype;
  const timeouts: number[] = [];
  vi.spyOn(Script.prototype, 'runInContext').mockImplementation(function (this: Script, context, options = {}) {
    timeouts.push(options.timeout ?? 0);
    const result: unknown = runInContext.call(this, context, options);
    if (timeouts.length < 3) {
      throw Object.assign(new Error('interrupted'), { code: 'ERR_SCRIPT_EXECUTION_TIMEOUT' });
    }
    return result;
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const budget = { leftMs: 10_000 };
  expect(problems({ rule: 'self.list.all(x, x > 0)' }, { list: numbers }, budget)).toEqual([
    expect.stringContaining('failed rule: self.list.all(x, x > 0)'),
  ]);
  expect(timeouts).toEqual([10_000, 20_000, 40_000]);
  expect(budget.leftMs).toBeGreaterThan(5_000);
});

test('a messageExpression that is too long is cut, and one that fails is replaced', () => {
  const rule = { rule: 'false', messageExpression: 'self.text + self.text' };
  expect(problems(rule, { text: 'x'.repeat(10_000) })[0]?.length).toBeLessThan(6_000);
  expect(problems({ ...rule, messageExpression: 'self.none' }, {})).toEqual([
    expect.stringContaining('failed rule: false'),
  ]);
});

test("the match conditions of a webhook that take too long are the webhook's failure", () => {
  let user = 0;
  vi.spyOn(process, 'threadCpuUsage').mockImplementation(() => {
    user += 3_000_000;
    return { user, system: 0 };
  });
  onTestFinished(() => void vi.restoreAllMocks());
  const conditions = ['a', 'b'].map((name) => ({ name, expression: 'true' }));
  expect(() => matchesConditions(conditions, {})).toThrow(/: b: could not be evaluated in time/);
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
])('an expression has its value: %s', (rule) => {
  const self = { n: 2, text: 'abc', list: [1, 2, 3], map: { a: 1 } };
  expect(problems({ rule }, self)).toEqual([]);
  expect(problems({ rule: `!(${rule})` }, self)).toHaveLength(1);
});

test('matches takes linear time, whatever the pattern', () => {
  using _work = limitWork(2_000);
  expect(problems({ rule: "!self.text.matches('^(a+)+$')" }, { text: `${'a'.repeat(10_000)}!` })).toEqual([]);
  expect(problems({ rule: "self.text.matches('(?=a)')" }, { text: 'a' })).toEqual([
    expect.stringContaining('error parsing regexp: invalid or unsupported Perl syntax'),
  ]);
});

test('a long text that is not a duration is rejected quickly, by its length', () => {
  using _work = limitWork(1_000);
  const rule = "duration((self.text)) > duration('1s') && self.text.matches('1')";
  expect(problems({ rule }, { text: '1'.repeat(1_000_000) })).toEqual([
    expect.stringContaining('the string is longer than 256 characters'),
  ]);
  expect(problems({ rule }, { text: '61s' })).toEqual([]);
});

test('ordinary rules for large objects stay within the budget', () => {
  const list = Array.from({ length: sized(5_000) }, (_, i) => ({ name: `item-${i}`, port: i }));
  const map = Object.fromEntries(list.map(({ name, port }) => [name, port]));
  const rule = [
    'self.list.all(i, i.port >= 0 && i.name.startsWith("item-") && i.name.size() < 64)',
    "self.list.all(i, i.name.matches('^[a-z]([-a-z0-9]*[a-z0-9])?$'))",
    'self.list.all(i, i.name in self.map && self.map[i.name] == i.port)',
    'self.map.all(k, has(self.map) && k.contains("item"))',
    'self == self && self.list.map(i, i.port).size() == self.list.size()',
  ];
  using _work = limitWork(2_000);
  for (const text of rule) {
    expect(problems({ rule: text }, { list, map })).toEqual([]);
  }
});

test('rules at every level of a deep object convert it once', () => {
  let schema: Schema = { type: 'object', properties: { list: anything } };
  let value: JsonObject = { list: Array(sized(100_000)).fill(1) };
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
  const object = (v: number) => ({ list: Array.from({ length: sized(5_000) }, (_, i) => ({ name: `n${i}`, v })) });
  using _work = limitWork(1_000);
  expect(validateRules(object(2), { list: object(1).list.toReversed() }, schema)).toEqual([]);
});
