import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  apiVersionOf,
  conversionDataAnnotation,
  convert,
  decodeExtensionConfig,
  openApiSchemaOf,
  versions,
} from '../../../src/extensionconfig/index.ts';
import { ConversionError, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { runs } from '../../support/runs.ts';
import { canonical, objectOf } from './arbitrary.ts';

const pairs = versions.flatMap((from) => versions.filter((to) => to !== from).map((to) => [from, to] as const));
const [older, newer] = [apiVersionOf('v1alpha1'), apiVersionOf('v1beta2')];
const arbitraryIn = (version: (typeof versions)[number]) =>
  objectOf(apiVersionOf(version), 'ExtensionConfig', openApiSchemaOf(version));

describe.each(pairs)('%s → %s → %s', (from, to) => {
  test('loses nothing, and changes neither the object nor other metadata', () => {
    fc.assert(
      fc.property(arbitraryIn(from), (object) => {
        const before = JSON.stringify(object);
        const there = convert(object, apiVersionOf(to));
        const { annotations, labels, ...metadata } = there.metadata as JsonObject;
        expect(metadata).toEqual({ name: (object.metadata as JsonObject).name, uid: 'u', generation: 3 });
        expect(labels).toBeUndefined();
        // Otherwise the schemas of the status differ in a way that is not converted.
        const { violations } = decodeExtensionConfig(there, to);
        expect(violations.filter(({ path }) => path[0] === 'status')).toEqual([]);
        expect(canonical(convert(there, apiVersionOf(from)))).toBe(canonical(object));
        expect(JSON.stringify(object)).toBe(before);
      }),
      { numRuns: runs(200) },
    );
  });
});

describe.each(pairs)('any JSON in place of fields: %s → %s', (from, to) => {
  test('is converted, or rejected with the field', () => {
    const anything = fc.jsonValue() as fc.Arbitrary<Json>;
    const object = fc.record({
      apiVersion: fc.constant(apiVersionOf(from)),
      kind: fc.constant('ExtensionConfig'),
      metadata: fc.oneof(
        anything,
        fc.record({ annotations: fc.oneof(anything, fc.dictionary(fc.string(), anything)) }),
      ),
      spec: anything,
      status: fc.oneof(
        anything,
        fc.record(
          {
            conditions: anything,
            handlers: fc.oneof(anything, fc.array(fc.record({ name: anything, timeoutSeconds: anything }))),
            v1beta2: fc.oneof(anything, fc.record({ conditions: anything, x: anything })),
            deprecated: fc.oneof(
              anything,
              fc.record({ v1beta1: fc.oneof(anything, fc.record({ conditions: anything })) }),
            ),
          },
          { requiredKeys: [] },
        ),
      ),
    }) as fc.Arbitrary<JsonObject>;
    fc.assert(
      fc.property(object, (value) => {
        try {
          expect(convert(value, apiVersionOf(to)).apiVersion).toBe(apiVersionOf(to));
        } catch (error) {
          expect(error).toBeInstanceOf(ConversionError);
          expect((error as ConversionError).path).not.toEqual([]);
        }
      }),
      { numRuns: runs(200) },
    );
  });
});

const handler = (name: string, timeoutSeconds?: number): JsonObject => ({
  name,
  requestHook: { apiVersion: 'v1', hook: 'h' },
  ...(timeoutSeconds !== undefined && { timeoutSeconds }),
});
const withHandlers = (apiVersion: string, handlers: Json, metadata: JsonObject = {}): JsonObject => ({
  apiVersion,
  kind: 'ExtensionConfig',
  metadata: { name: 'x', ...metadata },
  status: { handlers },
});
const handlersOf = (object: JsonObject) => (object.status as JsonObject).handlers;
const conversionDataOf = (object: JsonObject) =>
  ((object.metadata as JsonObject).annotations as JsonObject | undefined)?.[conversionDataAnnotation];

describe('conversion data', () => {
  const away = convert(withHandlers(older, [handler('a', 0), handler('b', 5), handler('c', -1)]), newer);

  test('contains what v1beta2 cannot represent, by the name of the handler', () => {
    expect(handlersOf(away)).toEqual([handler('a'), handler('b', 5), handler('c')]);
    expect(JSON.parse(String(conversionDataOf(away)))).toEqual({
      [older]: [
        { path: ['status', 'handlers', { name: 'a' }, 'timeoutSeconds'], value: 0 },
        { path: ['status', 'handlers', { name: 'c' }, 'timeoutSeconds'], value: -1 },
      ],
    });
  });

  test('is absent if there is nothing to keep', () => {
    const object = withHandlers(older, [handler('a', 1)]);
    expect(convert(object, newer)).toEqual({ ...object, apiVersion: newer });
  });

  test.each<[string, Json, Json]>([
    ['another order', [handler('c'), handler('a')], [handler('c', -1), handler('a', 0)]],
    ['a value that was set since', [handler('a', 7), handler('c')], [handler('a', 7), handler('c', -1)]],
    ['removed handlers', [handler('d')], [handler('d')]],
    ['no handlers', [], []],
    ['a value that is not a list', 'x', 'x'],
  ])('is restored correctly after a change: %s', (_name, handlers, expected) => {
    const home = convert({ ...away, status: { handlers } }, older);
    expect(handlersOf(home)).toEqual(expected);
    expect(conversionDataOf(home)).toBeUndefined();
  });

  test.each<[from: string, to: string, timeout: Json]>([
    [older, newer, '0'],
    [older, newer, null],
    // Not valid in v1beta2, which validation says.
    [newer, older, 0],
  ])('is not needed from %s to %s for a timeout of %j', (from, to, timeoutSeconds) => {
    const object = withHandlers(from, [{ name: 'a', timeoutSeconds }]);
    expect(convert(object, to)).toEqual({ ...object, apiVersion: to });
  });

  test.each<[string, Json]>([
    ['metadata that is not an object', 'x'],
    ['annotations that are not an object', { annotations: 'x' }],
    ['conversion data that is malformed', { annotations: { [conversionDataAnnotation]: '{' } }],
  ])('is not written where there is none to write: %s', (_name, metadata) => {
    const object = { apiVersion: older, kind: 'ExtensionConfig', metadata };
    expect(convert(object, newer)).toEqual({ ...object, apiVersion: newer });
  });

  test('does not restore a status that was removed', () => {
    const { status: _status, ...rest } = away;
    expect(convert(rest, older)).not.toHaveProperty('status');
  });

  const entry = (path: Json, value: Json = 0) => JSON.stringify({ [older]: [{ path, value }] });
  test.each<[string, Json]>([
    ['invalid JSON', '{'],
    ['empty', ''],
    ['a number', 7],
    ['null', 'null'],
    ['a list', '[]'],
    ['invalid entries', JSON.stringify({ [older]: [null] })],
    ['no entries', JSON.stringify({ [older]: {} })],
    ['no path', JSON.stringify({ [older]: [{ value: 1 }] })],
    ['an empty path', entry([])],
    ['numbers in the path', entry(['status', 'handlers', 0, 'timeoutSeconds'])],
    ['the path of the spec', entry(['spec', 'clientConfig', 'url'], 'https://evil.example')],
    ['the path of the metadata', entry(['metadata', 'uid'], 'evil')],
    ['__proto__ in the path', entry(['__proto__', 'polluted'])],
    ['__proto__ as a version', `{"__proto__":[{"path":["status"],"value":1}]}`],
    [
      '__proto__ as a key',
      `{"${older}":[{"path":["status","handlers",{"__proto__":"a"},"timeoutSeconds"],"value":0}]}`,
    ],
    ['a value that v1beta2 can represent', entry(['status', 'handlers', { name: 'a' }, 'timeoutSeconds'], 9)],
    ['a value of another type', entry(['status', 'handlers', { name: 'a' }, 'timeoutSeconds'], { x: 1 })],
    ['the handler as a property', entry(['status', 'handlers', 'a', 'timeoutSeconds'])],
    ['too large', `{"${older}":[${' '.repeat(300_000)}]}`],
    ['too deep', entry(['status', 'v1beta2'], JSON.parse(`${'['.repeat(400)}${']'.repeat(400)}`))],
    ['deeper than the stack', `${'['.repeat(100_000)}`],
  ])('that is hostile or malformed changes nothing: %s', (_name, text) => {
    const object = withHandlers(newer, [handler('a')], { annotations: { [conversionDataAnnotation]: text } });
    const { metadata: _metadata, ...rest } = convert(object, older);
    expect(rest).toEqual({ apiVersion: older, kind: 'ExtensionConfig', status: { handlers: [handler('a')] } });
    expect({}).not.toHaveProperty('polluted');
  });

  test('that would be too large is a failure that names the field, not a loss', () => {
    const handlers = Array.from({ length: 512 }, (_, index) => handler(`${index}`.padStart(512, 'x'), 0));
    expect(() => convert(withHandlers(older, handlers), newer)).toThrow(/the maximum is 262144/);
  });
});

test('data for the current version of the object is dropped, data for others is kept', () => {
  const later = { 'runtime.cluster.x-k8s.io/v1': [{ path: ['spec', 'x'], value: 1 }] };
  const entry = [{ path: ['status', 'handlers', { name: 'a' }, 'timeoutSeconds'], value: 0 }];
  const data = JSON.stringify({ ...later, [older]: entry, [newer]: entry });
  const object = withHandlers(older, [handler('a')], { annotations: { [conversionDataAnnotation]: data } });
  const converted = convert(object, newer);
  expect(JSON.parse(String(conversionDataOf(converted)))).toEqual(later);
  expect(handlersOf(converted)).toEqual([handler('a')]);
});

test.each<[JsonObject, string, string]>([
  [{ kind: 'Pot', apiVersion: older }, newer, '"Pot" is not ExtensionConfig'],
  [{ kind: 'ExtensionConfig', apiVersion: 'v0' }, newer, 'cannot convert "v0"; the versions of ExtensionConfig are'],
  [{ kind: 'ExtensionConfig', apiVersion: 7 }, newer, 'cannot convert 7; the versions of ExtensionConfig are'],
  [
    { kind: 'ExtensionConfig', apiVersion: older },
    'v9',
    `cannot convert "v9"; the versions of ExtensionConfig are ${older}, ${newer}`,
  ],
])('%j is not converted to %s', (object, version, message) => {
  expect(() => convert(object, version)).toThrow(message);
});

describe('an object of which some fields move, and the rest is kept', () => {
  const object = (v1beta2: Json): JsonObject => ({
    apiVersion: older,
    kind: 'ExtensionConfig',
    metadata: { name: 'x' },
    status: { v1beta2 },
  });
  const keptOf = (v1beta2: Json) => {
    const text = conversionDataOf(convert(object(v1beta2), newer));
    return text === undefined ? undefined : (JSON.parse(String(text)) as Record<string, Json>)[older];
  };
  const path = ['status', 'v1beta2'];

  test.each<[string, Json, Json | undefined]>([
    ['only fields that move', { conditions: [] }, undefined],
    ['nothing', {}, [{ path, value: {} }]],
    [
      'fields that move, and others',
      { conditions: [], other: 1, more: { a: [] } },
      [{ path, value: { other: 1, more: { a: [] } } }],
    ],
    ['fields that do not move', { other: 1 }, [{ path, value: { other: 1 } }]],
    ['a value that is not an object', 'x', [{ path, value: 'x' }]],
  ])('%s', (_, v1beta2, kept) => {
    expect(keptOf(v1beta2)).toEqual(kept);
    const back = convert(convert(object(v1beta2), newer), older);
    expect(back).toEqual(object(v1beta2));
  });
});
