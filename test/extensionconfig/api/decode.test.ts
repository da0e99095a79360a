import { Ajv } from 'ajv';
import ajvFormats from 'ajv-formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeExtensionConfig, openApiSchemaOf, versions } from '../../../src/extensionconfig/index.ts';
import type { Schema } from '../../../src/kubernetes/schema/index.ts';
import { runs } from '../../support/runs.ts';

/** As many violations of each kind are listed. */
const maxViolations = 100;
const maxAnnotationBytes = 256 * 1024;

const object = (spec: unknown, more: Record<string, unknown> = {}) => ({
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name: 'x' },
  spec,
  ...more,
});

const condition = { type: 'T', status: 'True', reason: 'R', message: '', lastTransitionTime: '2026-01-01T00:00:00Z' };

test('returns a valid object unchanged', () => {
  const good = object({ clientConfig: { url: 'https://h' } });
  const decoded = decodeExtensionConfig(good, 'v1beta2');
  expect(decoded.object).toBe(good);
  expect(decoded.violations).toEqual([]);
});

test('drops or empties values of the wrong type, and does not modify the input', () => {
  const bad = object(
    { clientConfig: { url: 5, service: { name: null, port: '1', namespace: 'n' } }, settings: { a: 1, b: 'c' } },
    { status: { handlers: [7, { name: 'h', requestHook: 'x' }] } },
  );
  const before = structuredClone(bad);
  const { object: decoded, violations } = decodeExtensionConfig(bad, 'v1beta2');
  expect(decoded).toEqual(
    object(
      { clientConfig: { service: { namespace: 'n' } }, settings: { b: 'c' } },
      { status: { handlers: [{}, { name: 'h' }] } },
    ),
  );
  expect(bad).toEqual(before);
  expect(violations.filter(({ problem }) => problem === 'type').map(({ path }) => path.join('.'))).toEqual([
    'spec.clientConfig.url',
    'spec.clientConfig.service.name',
    'spec.clientConfig.service.port',
    'spec.settings.a',
    'status.handlers.0',
    'status.handlers.1.requestHook',
  ]);
});

test.each([[undefined], [null], ['x'], [[]]])('metadata %j becomes an object', (metadata) => {
  const decoded = decodeExtensionConfig(object({}, { metadata }), 'v1beta2');
  expect(decoded.object.metadata).toEqual({});
  // An object within all limits.
  expect(decoded.whole).toBe(decoded.object);
});

type Row = [problem: string, bad: Record<string, unknown>, path: string];

test.each<Row>([
  ['required', object({}), 'spec.clientConfig'],
  ['tooLong', object({ clientConfig: { url: `https://${'h'.repeat(512)}` } }), 'spec.clientConfig.url'],
  ['invalid', object({ clientConfig: { url: '' } }), 'spec.clientConfig.url'],
  [
    'invalid',
    object({ clientConfig: { url: 'h', service: { name: 'a', namespace: 'b', port: 2 ** 31 } } }),
    'spec.clientConfig.service.port',
  ],
  [
    'notSupported',
    object(
      { clientConfig: { url: 'h' } },
      { status: { handlers: [{ name: 'h', requestHook: { apiVersion: 'a', hook: 'b' }, failurePolicy: 'X' }] } },
    ),
    'status.handlers.0.failurePolicy',
  ],
  // 1,024 characters, the most that a reason may have.
  ...[{ type: '-' }, { reason: 'a/b' }, { reason: '\u{1F600}'.repeat(1024) }].map((more): Row => {
    const status = { conditions: [{ ...condition, ...more }] };
    return [
      'invalid',
      object({ clientConfig: { url: 'h' } }, { status }),
      `status.conditions.0.${Object.keys(more)[0]}`,
    ];
  }),
])('%s: %j', (problem, bad, path) => {
  const { violations } = decodeExtensionConfig(bad, 'v1beta2');
  expect(violations.map((violation) => [violation.problem, violation.path.join('.')])).toEqual([[problem, path]]);
});

test('counts lengths in characters, as the API server does', () => {
  const url = (length: number) => object({ clientConfig: { url: '\u{1F600}'.repeat(length) } });
  expect(decodeExtensionConfig(url(512), 'v1beta2').violations).toEqual([]);
  expect(decodeExtensionConfig(url(513), 'v1beta2').violations).toHaveLength(1);
});

test('does not pass an oversized string to a regular expression, which would throw', () => {
  const [text, long] = [7 * 1024, 256].map((kibibytes) => `${'A'.repeat(kibibytes * 1024)}!`);
  for (const [version, conditionsOf] of [
    ['v1alpha1', (conditions: unknown) => ({ v1beta2: { conditions } })],
    ['v1beta2', (conditions: unknown) => ({ conditions })],
  ] as const) {
    const whole = (caBundle: string, more: object) =>
      object({ clientConfig: { caBundle } }, { status: conditionsOf([{ ...condition, ...more }]) });
    const violationsOf = (of: Record<string, unknown>) =>
      decodeExtensionConfig(of, version).violations.map(({ path, problem }) => [path.at(-1), problem]);
    expect(violationsOf(whole('YQ==', {}))).toEqual([]);
    expect(violationsOf(whole(String(text), {}))).toEqual([['caBundle', 'tooLong']]);
    for (const key of ['type', 'reason']) {
      expect(violationsOf(whole('YQ==', { [key]: long }))).toEqual([[key, 'tooLong']]);
    }
    expect(violationsOf(whole('YQ==', { lastTransitionTime: long }))).toEqual([['lastTransitionTime', 'invalid']]);
  }
});

test('distinguishes the versions', () => {
  const early = object(
    { clientConfig: { url: 'h' } },
    { status: { handlers: [{ name: 'h', requestHook: { apiVersion: 'a', hook: 'b' }, timeoutSeconds: 0 }] } },
  );
  expect(decodeExtensionConfig(early, 'v1alpha1').violations).toEqual([]);
  expect(decodeExtensionConfig(early, 'v1beta2').violations).toMatchObject([{ message: 'must be at least 1' }]);
});

const expressions = (matchExpressions: unknown[]) =>
  object({ clientConfig: { url: 'h' }, namespaceSelector: { matchExpressions } });

test('limits the number of violations, the last of which counts the others', () => {
  const { violations, object: decoded } = decodeExtensionConfig(expressions(Array(20_000).fill(0)), 'v1beta2');
  expect(violations).toHaveLength(maxViolations);
  expect(violations.at(-1)).toEqual({ path: [], problem: 'type', message: '19901 more fields have a wrong type' });
  expect(decoded).toEqual(expressions(Array(20_000).fill({})));
});

test('many violations of one kind do not hide those of another', () => {
  const { violations } = decodeExtensionConfig(
    expressions([...Array(1000).fill({}), ...Array(1000).fill(0)]),
    'v1beta2',
  );
  expect(violations.filter(({ problem }) => problem === 'type')).toHaveLength(maxViolations);
  expect(violations.filter(({ problem }) => problem === 'required')).toHaveLength(maxViolations - 1);
  expect(violations.at(-1)?.message).toBe('1901 more fields do not fit the CustomResourceDefinition');
});

test('drops a value that exceeds a limit, with one violation, and does not look inside it', () => {
  const handlers = Array.from({ length: 513 }, () => ({ name: 7 }));
  const url = 'x'.repeat(513);
  const annotations = { a: 'x'.repeat(maxAnnotationBytes) };
  const bad = object({ clientConfig: { url } }, { status: { handlers }, metadata: { name: 'x', annotations } });
  const { object: limited, whole, violations } = decodeExtensionConfig(bad, 'v1beta2');
  expect(violations.map(({ path, problem }) => `${path.join('.')} ${problem}`)).toEqual([
    'metadata.annotations tooLong',
    'spec.clientConfig.url tooLong',
    'status.handlers tooMany',
  ]);
  expect(limited).toEqual(object({ clientConfig: {} }, { status: {} }));
  expect(whole).toMatchObject({ spec: { clientConfig: { url } }, metadata: { annotations } });
});

test('treats a key named __proto__ as an ordinary one', () => {
  const spec = JSON.parse('{"clientConfig": {"url": "h"}, "settings": {"a": 1, "__proto__": "x", "b": "c"}}');
  const { object: decoded } = decodeExtensionConfig(object(spec), 'v1beta2');
  expect(JSON.stringify(decoded.spec?.settings)).toBe('{"__proto__":"x","b":"c"}');
});

/** Values of the right type, of a wrong type, at a limit and over it, for each schema. */
function anyOf(schema: Schema): fc.Arbitrary<unknown> {
  const stray = fc.constantFrom<unknown>(null, 0, -1, 1.5, 2 ** 31, true, '', 'x', [], {}, [{}]);
  return fc.oneof({ weight: 9, arbitrary: fittingOf(schema) }, { weight: 1, arbitrary: stray });
}

function fittingOf(schema: Schema): fc.Arbitrary<unknown> {
  const { type, properties, items, additionalProperties, maxLength = 100, maxItems = 4 } = schema;
  if (type === 'object' && properties !== undefined) {
    return fc.record(Object.fromEntries(Object.entries(properties).map(([key, of]) => [key, anyOf(of)])), {
      requiredKeys: [],
    });
  }
  if (type === 'object') {
    return typeof additionalProperties === 'object'
      ? fc.dictionary(fc.string(), anyOf(additionalProperties), { maxKeys: 3 })
      : fc.constant({});
  }
  if (type === 'array' && items !== undefined) {
    return fc.oneof(
      { weight: 9, arbitrary: fc.array(anyOf(items), { maxLength: 3 }) },
      { weight: 1, arbitrary: fc.constantFrom(maxItems, maxItems + 1).map((length) => Array(length).fill({})) },
    );
  }
  if (type === 'string') {
    return fc.oneof(
      fc.constantFrom<string>(
        ...((schema.enum as string[] | undefined) ?? ['a', 'a/b']),
        '2026-01-01T00:00:00Z',
        'YQ==',
      ),
      fc.constantFrom(maxLength, maxLength + 1).map((length) => '\u{1F600}'.repeat(length)),
      fc.string(),
    );
  }
  return fc.constantFrom(0, 1, -1, 2 ** 31, 1.5);
}

const text = { type: 'string' };
const metadata: Schema = {
  type: 'object',
  properties: {
    name: { type: 'string', maxLength: 253 },
    annotations: { type: 'object', additionalProperties: text },
    labels: { type: 'object', additionalProperties: { type: 'string', maxLength: 63 } },
  },
};

test.each(versions)('%s: finds a problem exactly where the schema of the CustomResourceDefinition does', (version) => {
  const published = openApiSchemaOf(version);
  const schema = { ...published, properties: { ...published.properties, metadata } };
  const fits = ajvFormats.default(new Ajv({ strict: false, logger: false })).compile(schema);
  const refused = new Set<string>();
  const numRuns = runs(200);
  fc.assert(
    fc.property(fittingOf(schema), (value) => {
      const given = value as Record<string, unknown>;
      const { object: decoded, whole, violations } = decodeExtensionConfig(given, version);
      expect(violations.length === 0).toBe(fits(given));
      for (const { problem } of violations) {
        refused.add(problem);
      }
      // Nothing that remains has a wrong type or exceeds a limit.
      const left = (of: object) => decodeExtensionConfig({ ...of }, version).violations.map(({ problem }) => problem);
      expect(left(whole)).not.toContain('type');
      expect(left(decoded).filter((problem) => ['type', 'tooLong', 'tooMany'].includes(problem))).toEqual([]);
    }),
    { numRuns },
  );
  // The rarest outcome occurs in one case of twenty.
  if (numRuns >= 200) {
    expect([...refused].sort()).toEqual(['invalid', 'notSupported', 'required', 'tooLong', 'tooMany', 'type']);
  }
});
