import { describe, expect, test } from 'vitest';
import { maxConversionDataBytes, reviewConversion } from '../../../src/extensionconfig/index.ts';
import type { Json, JsonObject } from '../../../src/kubernetes/index.ts';
import { capturedCalls } from '../../server/running.ts';

const group = 'runtime.cluster.x-k8s.io';
const object = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: `${group}/v1alpha1`,
  kind: 'ExtensionConfig',
  metadata: { name },
  spec: { clientConfig: { url: 'https://x.example' } },
  ...more,
});
const review = (objects: Json, desiredAPIVersion: Json = `${group}/v1beta2`): Json => ({
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'ConversionReview',
  request: { uid: 'u', desiredAPIVersion, objects },
});
// biome-ignore lint/suspicious/noExplicitAny: tests look at what came back, whatever it is
const answer = (body: Json) => (reviewConversion(body) as any).review?.response;

test.each(capturedCalls.filter(({ body }) => body.kind === 'ConversionReview'))('answers $name', ({ body }) => {
  const { request } = body as unknown as { request: { uid: string; desiredAPIVersion: string; objects: JsonObject[] } };
  expect(reviewConversion(body as unknown as Json)).toEqual({
    review: {
      apiVersion: 'apiextensions.k8s.io/v1',
      kind: 'ConversionReview',
      response: {
        uid: request.uid,
        convertedObjects: request.objects.map((one) => ({ ...one, apiVersion: request.desiredAPIVersion })),
        result: { status: 'Success' },
      },
    },
  });
});

test('a list keeps its order, and an object in the desired version is returned unchanged', () => {
  const current = { ...object('b'), apiVersion: `${group}/v1beta2`, unknown: [1] };
  const { convertedObjects } = answer(review([object('a'), current, object('c')]));
  expect(convertedObjects.map((one: JsonObject) => (one.metadata as JsonObject).name)).toEqual(['a', 'b', 'c']);
  expect(convertedObjects[1]).toBe(current);
  expect(answer(review([])).convertedObjects).toEqual([]);
});

describe('a failure names the object and the field, and converts nothing', () => {
  test.each<[string, Json, RegExp]>([
    [
      'another kind',
      [object('a'), object('b', { kind: 'Pod' })],
      /^ExtensionConfig objects\[1\] "b": kind: "Pod" is not/,
    ],
    ['another version', [object('b', { apiVersion: 'v1' })], /objects\[0\] "b": apiVersion: cannot convert "v1"/],
    [
      'no version',
      [object('b', { apiVersion: null })],
      /apiVersion: cannot convert null; the versions .*v1alpha1, .*v1beta2/,
    ],
    [
      'a place that is taken',
      [object('b', { status: { conditions: [], deprecated: { v1beta1: { conditions: [] } } } })],
      /objects\[0\] "b": status.conditions: becomes/,
    ],
    [
      'a field inside a value that is not an object',
      [object('b', { status: { conditions: [], deprecated: 'x' } })],
      /"b": status.conditions: becomes status.deprecated.v1beta1.conditions, where the object has another value/,
    ],
    [
      'no room for conversion data, and no name',
      [object('b', { metadata: 'x', status: { handlers: [{ timeoutSeconds: 0 }] } })],
      /^ExtensionConfig objects\[0\]: metadata: must be an object/,
    ],
    ['an object that is a number', [object('a'), 7], /request.objects\[1\] must be an object, got 7/],
    ['objects that are not a list', {}, /request.objects must be an array/],
  ])('%s', (_name, objects, message) => {
    const response = answer(review(objects));
    expect(response).toEqual({
      uid: 'u',
      convertedObjects: [],
      result: { status: 'Failure', message: expect.stringMatching(message) },
    });
  });

  test('an unknown desired version', () => {
    expect(answer(review([object('a')], `${group}/v9`)).result.message).toMatch(/"a": apiVersion: .*v9"/);
    const unknown = object('b', { apiVersion: 'other/v9' });
    expect(answer(review([unknown], 'other/v9')).result.message).toMatch(/"b": apiVersion: cannot convert "other\/v9"/);
    expect(answer(review([object('a')], 7)).result.message).toMatch(/request.desiredAPIVersion must be a string/);
  });
});

test('an error that only a bug can cause is not a failure of the object', () => {
  const broken = {
    ...object('a'),
    get status(): Json {
      throw new RangeError('a bug');
    },
  };
  expect(() => reviewConversion(review([broken]))).toThrow('a bug');
});

test.each<[Json, RegExp]>([
  [null, /must be an object of kind ConversionReview/],
  [[], /must be an object of kind ConversionReview/],
  [{ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1' }, /got apiVersion "admission.k8s.io\/v1"/],
  [{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1beta1' }, /v1beta1/],
  [{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1' }, /request must be an object/],
  [{ kind: 'ConversionReview', apiVersion: 'apiextensions.k8s.io/v1', request: { uid: '' } }, /request.uid/],
])('%j is not a review', (body, message) => {
  expect(reviewConversion(body)).toEqual({ problem: expect.stringMatching(message) });
});

describe('kept values', () => {
  const annotation = 'runtime.cluster.x-k8s.io/conversion-data';
  const kept = (...values: [key: JsonObject, timeout: number][]) => ({
    [`${group}/v1alpha1`]: values.map(([key, value]) => ({
      path: ['status', 'handlers', key, 'timeoutSeconds'],
      value,
    })),
  });
  const hub = (data: JsonObject, names: string[]): JsonObject => ({
    ...object('a', { status: { handlers: names.map((name) => ({ name })) } }),
    apiVersion: `${group}/v1beta2`,
    metadata: { name: 'a', annotations: { [annotation]: JSON.stringify(data) } },
  });
  const handlersOf = (body: Json) => answer(body).convertedObjects[0].status.handlers;
  const back = `${group}/v1alpha1`;

  test('of several for one place the first counts, and items with the same keys get one each', () => {
    const one = hub(
      kept([{ name: 'h' }, 0], [{ name: 'h' }, -1], [{ name: 'h' }, -9], [{ name: 'i' }, -2], [{ name: 'i' }, -9]),
      ['h', 'i', 'h'],
    );
    expect(handlersOf(review([one], back))).toEqual([
      { name: 'h', timeoutSeconds: 0 },
      { name: 'i', timeoutSeconds: -2 },
      { name: 'h', timeoutSeconds: -1 },
    ]);
  });

  test('keys that the list does not have, and steps that hide a path, are ignored', () => {
    const data = kept([{ hook: 'h' }, 0], [{ name: 'h', hook: 'h' }, 0]) as Record<string, Json[]>;
    data[back]?.push({ path: ['status.handlers[].timeoutSeconds'], value: 0 });
    const converted = answer(review([hub(data, ['h'])], back)).convertedObjects[0];
    expect(converted.status).toEqual({ handlers: [{ name: 'h' }] });
    expect(Object.keys(converted).sort()).toEqual(['apiVersion', 'kind', 'metadata', 'spec', 'status']);
  });

  test('one response adds at most 1 MiB of them', () => {
    const entry = { path: ['status', 'v1beta2'], value: '' };
    const room = maxConversionDataBytes - JSON.stringify({ [`${group}/v1alpha1`]: [entry] }).length;
    const full = object('a', { status: { v1beta2: 'x'.repeat(room) } });
    expect(answer(review(Array(4).fill(full))).result.status).toBe('Success');
    const { result, convertedObjects } = answer(
      review([...Array(4).fill(full), object('b', { status: { v1beta2: 0 } })]),
    );
    expect(convertedObjects).toEqual([]);
    expect(result.message).toMatch(/^ExtensionConfig objects\[4\] "b": .* more than 1048576 bytes .* fewer at a time$/);
  });

  test('conversion data that objects already have does not count as added', () => {
    const junk = { name: 'a', annotations: { [annotation]: 'x'.repeat(250_000) } };
    const objects = Array.from({ length: 9 }, () => object('a', { metadata: junk }));
    expect(answer(review(objects)).result.status).toBe('Success');
  });

  test('one object keeps no more than an annotation may contain', () => {
    const handlers = Array.from({ length: 20_000 }, (_, index) => ({ name: `h${index}`, timeoutSeconds: 0 }));
    const { result } = answer(review([object('a', { status: { handlers } })]));
    expect(result.message).toMatch(/metadata\.annotations\S+: would need \d+ bytes .* the maximum is 262144/);
  });
});
