import fc from 'fast-check';
import { applyPatch } from 'rfc6902';
import { expect, test } from 'vitest';
import { defaultsOf, withDefaults } from '../../../src/extensionconfig/index.ts';
import { decodeAdmissionReview, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { runs } from '../../support/runs.ts';
import { admission, requestFor } from './policy.ts';

const text = fc.oneof(
  fc.constantFrom('', 'default', 'svc', '/path', 'https://example.com', 'In', 'a.b', '__proto__', 'constructor'),
  fc.string(),
);
const anything = fc.jsonValue() as fc.Arbitrary<Json>;
/** A value, mostly of the right type. */
const or = <T>(arbitrary: fc.Arbitrary<T>) => fc.oneof({ weight: 8, arbitrary }, { weight: 1, arbitrary: anything });
const record = (shape: Record<string, fc.Arbitrary<unknown>>) => fc.record(shape, { requiredKeys: [] });
const port = fc.oneof(fc.constantFrom(-1, 0, 443, 65535, 65536), fc.integer());

const selector = record({
  matchLabels: or(fc.dictionary(text, or(text))),
  matchExpressions: or(fc.array(or(record({ key: or(text), operator: or(text), values: or(fc.array(or(text))) })))),
});
const handler = record({
  name: or(text),
  requestHook: or(record({ apiVersion: or(text), hook: or(text) })),
  timeoutSeconds: or(fc.integer()),
  failurePolicy: or(text),
});
const extensionConfig = record({
  metadata: or(record({ name: or(text), annotations: or(fc.dictionary(text, or(text))) })),
  spec: or(
    record({
      clientConfig: or(
        record({
          url: or(text),
          service: or(record({ namespace: or(text), name: or(text), path: or(text), port: or(port) })),
          caBundle: or(text),
        }),
      ),
      namespaceSelector: or(selector),
      settings: or(fc.dictionary(text, or(text))),
    }),
  ),
  status: or(record({ handlers: or(fc.array(or(handler))) })),
}).map(
  (object) => ({ apiVersion: 'runtime.cluster.x-k8s.io/v1beta2', kind: 'ExtensionConfig', ...object }) as JsonObject,
);

const subject = fc.constantFrom('object', 'status' as const);

test('the patch turns any object into the defaulted one, which needs no more defaults', () => {
  fc.assert(
    fc.property(extensionConfig, subject, (object, which) => {
      const defaulted = withDefaults(object, which);
      const patched = structuredClone(object);
      expect(applyPatch(patched, [...defaultsOf(object, which)]).every((error) => error === null)).toBe(true);
      expect(patched).toEqual(defaulted);
      expect(defaultsOf(defaulted, which)).toEqual([]);
    }),
    { numRuns: runs(120) },
  );
});

test('any object gets a response, never an exception, and a denial always gives a reason', () => {
  const strict = admission();
  fc.assert(
    fc.property(extensionConfig, extensionConfig, subject, (object, oldObject, which) => {
      const request = requestFor(object, {
        operation: 'UPDATE',
        oldObject,
        subResource: which === 'status' ? 'status' : '',
      });
      const { response } = strict.validate(request);
      if (!response.allowed) {
        expect(response.status?.details?.causes?.length).toBeGreaterThan(0);
      }
      expect(strict.mutate(request).response.allowed).toBe(true);
    }),
    { numRuns: runs(120) },
  );
});

test('what the upstream profile denies, the strict profile denies', () => {
  const strict = admission();
  const upstream = admission({ profile: 'upstream' });
  fc.assert(
    fc.property(extensionConfig, (object) => {
      const request = requestFor(object);
      const fields = (of: typeof strict) =>
        of.validate(request).response.status?.details?.causes?.map(({ field, reason }) => `${field} ${reason}`) ?? [];
      expect(fields(strict)).toEqual(expect.arrayContaining(fields(upstream)));
    }),
    { numRuns: runs(120) },
  );
});

test('any JSON is either decoded as a review or rejected with a sentence', () => {
  const strict = admission();
  const review = or(
    fc.record({
      apiVersion: or(fc.constant('admission.k8s.io/v1')),
      kind: or(fc.constant('AdmissionReview')),
      request: or(
        record({
          uid: or(fc.constant('u')),
          kind: or(
            fc.record({
              group: fc.constant('runtime.cluster.x-k8s.io'),
              version: fc.constant('v1beta2'),
              kind: fc.constant('ExtensionConfig'),
            }),
          ),
          operation: or(fc.constantFrom('CREATE', 'UPDATE', 'DELETE')),
          object: or(extensionConfig),
          oldObject: or(extensionConfig),
          subResource: or(fc.constantFrom('', 'status')),
        }),
      ),
    }) as fc.Arbitrary<Json>,
  );
  fc.assert(
    fc.property(review, (body) => {
      const decoded = decodeAdmissionReview(body);
      if ('problem' in decoded) {
        expect(decoded.problem).not.toBe('');
      } else {
        expect(typeof strict.validate(decoded.request).response.allowed).toBe('boolean');
      }
    }),
    { numRuns: runs(120) },
  );
});
