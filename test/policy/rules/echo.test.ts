import { expect, test } from 'vitest';
import type { SchemaViolation } from '../../../src/extensionconfig/index.ts';
import { type FieldPath, formatFieldPath } from '../../../src/kubernetes/index.ts';
import type { Severity } from '../../../src/policy/index.ts';
import { createEchoTest } from '../../../src/policy/rules/rule-set.ts';

interface Reported {
  id?: string;
  upstream?: boolean;
  isFallback?: true;
  severity?: Severity;
  path: FieldPath;
}

const reportOf = ({ id = 'a-rule', upstream = false, isFallback, severity = 'deny', path }: Reported) => ({
  rule: { id, upstream, ...(isFallback && { isFallback }) },
  severity,
  path,
  field: formatFieldPath(path),
});
const violation = (problem: SchemaViolation['problem'], path: (string | number)[], value: unknown = 7) => ({
  problem,
  path,
  value,
  message: 'must be something else',
});
/** The indexes of the reports that are echoes. */
function echoes(reports: Reported[], violations: SchemaViolation[] = [], unrendered: FieldPath[] = []): number[] {
  const all = reports.map(reportOf);
  const isEcho = createEchoTest(all, violations, unrendered);
  return all.flatMap((report, index) => (isEcho(report) ? [index] : []));
}

const target = ['spec', 'clientConfig'];
/** At, below, above (twice) and beside `spec.clientConfig`. */
const around: FieldPath[] = [target, [...target, 'url'], ['spec'], [], ['spec', 'settings'], ['spec', 'clientConfigs']];

test('findings at, above or below a field of a wrong type are echoes of it', () => {
  const violations = [violation('type', target)];
  expect(
    echoes(
      around.map((path) => ({ path })),
      violations,
    ),
  ).toEqual([0, 1, 2, 3]);
  expect(
    echoes(
      around.map((path) => ({ path, upstream: true })),
      violations,
    ),
  ).toEqual([0, 1, 2, 3]);
});

test.each([
  'tooLong',
  'tooMany',
] as const)('%s: only rules that see the object without that field echo it', (problem) => {
  const violations = [violation(problem, target)];
  expect(
    echoes(
      around.map((path) => ({ path })),
      violations,
    ),
  ).toEqual([0, 1, 2, 3]);
  expect(
    echoes(
      around.map((path) => ({ path, upstream: true })),
      violations,
    ),
  ).toEqual([]);
});

test('no other violation has echoes', () => {
  const violations = [
    violation('required', target),
    violation('notSupported', target),
    violation('invalid', target),
    violation('type', target, null),
    violation('type', []),
    violation('tooMany', []),
  ];
  expect(
    echoes(
      around.map((path) => ({ path })),
      violations,
    ),
  ).toEqual([]);
});

test('the finding about the type itself is never an echo', () => {
  expect(echoes([{ id: 'field-type', path: target }, { path: target }], [violation('type', target)])).toEqual([1]);
  expect(echoes([{ id: 'field-type', path: target, isFallback: true }, { path: target }])).toEqual([]);
});

test('a fallback is dropped if its field has a finding of at least the same severity', () => {
  const path = ['spec'];
  const fallback = (severity: Severity): Reported => ({ path, severity, isFallback: true });
  expect(echoes([fallback('deny'), fallback('warn')])).toEqual([]);
  expect(echoes([fallback('deny'), fallback('warn'), { path, severity: 'deny' }])).toEqual([0, 1]);
  expect(echoes([fallback('deny'), fallback('warn'), { path, severity: 'warn' }])).toEqual([1]);
  expect(echoes([fallback('deny'), { path: ['status'], severity: 'deny' }])).toEqual([]);
  for (const both of [['deny', 'warn'] as const, ['warn', 'deny'] as const]) {
    expect(echoes([fallback('deny'), ...both.map((severity) => ({ path, severity }))])).toEqual([0]);
  }
});

test('a fallback is only an echo of a wrong type at or above its field', () => {
  const fallbacks = around.map((path) => ({ path, isFallback: true as const }));
  expect(echoes(fallbacks, [violation('type', target)])).toEqual([0, 1]);
  expect(echoes(fallbacks, [violation('tooLong', target)])).toEqual([]);
});

test('list items are distinguished by index', () => {
  const handler = (index: number, name: string) => ({ path: ['status', 'handlers', index, name] });
  expect(
    echoes([handler(0, 'name'), handler(1, 'name')], [violation('type', ['status', 'handlers', 1, 'name'])]),
  ).toEqual([1]);
});

const selector = ['spec', 'namespaceSelector'];

test.each<[string, FieldPath, Reported, isEcho: boolean]>([
  ['at', target, { path: target }, true],
  ['below', target, { path: [...target, 'url'] }, true],
  ['above', [...target, 'url'], { path: target }, false],
  ['beside', target, { path: ['spec', 'settings'] }, false],
  ['of the selector above', [...selector, 'matchLabels', 'a'], { path: selector }, true],
  ['of the selector beside', target, { path: selector }, false],
  ['of a fallback at', target, { path: target, isFallback: true }, true],
  ['about the type at', target, { path: target, id: 'field-type' }, true],
])('a finding %s a placeholder of a template', (_name, placeholder, other, isEcho) => {
  for (const [severity, otherSeverity, expected] of [
    ['deny', 'deny', isEcho],
    ['warn', 'warn', isEcho],
    // What a denial says is not hidden by a warning.
    ['warn', 'deny', false],
  ] as const) {
    const reported = [
      { id: 'not-rendered', severity, path: ['metadata', 'name'] },
      { ...other, severity: otherSeverity },
    ];
    expect(echoes(reported, [], [placeholder]), `${severity} ${otherSeverity}`).toEqual(expected ? [1] : []);
  }
  expect(echoes([{ path: ['metadata', 'name'] }, other], [], [placeholder])).toEqual([]);
});

test('the finding about placeholders is no echo of itself', () => {
  expect(echoes([{ id: 'not-rendered', path: target }], [violation('type', target)], [target])).toEqual([]);
});
