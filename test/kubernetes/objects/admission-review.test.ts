import { expect, test } from 'vitest';
import { type AdmissionRequest, decodeAdmissionReview, type Json, reviewOf } from '../../../src/kubernetes/index.ts';

const request = {
  uid: 'u1',
  kind: { group: 'g.io', version: 'v2', kind: 'K' },
  requestKind: { group: 'g.io', version: 'v1', kind: 'K' },
  resource: { group: 'g.io', version: 'v2', resource: 'ks' },
  subResource: 'status',
  name: 'n',
  namespace: 'ns',
  operation: 'UPDATE',
  userInfo: { username: 'jane', groups: ['a'] },
  object: { a: 1 },
  oldObject: { a: 0 },
  dryRun: true,
};
const review = (more: object): Json =>
  ({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', request: { ...request, ...more } }) as Json;

const decoded: AdmissionRequest = {
  uid: 'u1',
  kind: { group: 'g.io', version: 'v2', kind: 'K' },
  requestKind: { group: 'g.io', version: 'v1', kind: 'K' },
  subResource: 'status',
  name: 'n',
  namespace: 'ns',
  operation: 'UPDATE',
  username: 'jane',
  object: { a: 1 },
  oldObject: { a: 0 },
  dryRun: true,
};

test.each<[string, object, Partial<AdmissionRequest>]>([
  ['as the API server sends it', {}, {}],
  ['with the longest uid', { uid: 'u'.repeat(256) }, { uid: 'u'.repeat(256) }],
  [
    'of the core group, which is empty',
    { kind: { version: 'v1', kind: 'Pod' } },
    { kind: { group: '', version: 'v1', kind: 'Pod' } },
  ],
  ...(['CREATE', 'DELETE', 'CONNECT'] as const).map((operation): [string, object, Partial<AdmissionRequest>] => [
    `of ${operation}`,
    { operation },
    { operation },
  ]),
  ['without objects', { object: null, oldObject: undefined }, { object: undefined, oldObject: undefined }],
  [
    'with required fields only',
    {
      requestKind: undefined,
      subResource: undefined,
      name: undefined,
      namespace: undefined,
      userInfo: undefined,
      dryRun: undefined,
    },
    { requestKind: decoded.kind, subResource: '', name: '', namespace: '', username: '', dryRun: false },
  ],
  [
    'with types of its own',
    { requestKind: { version: 'v1' }, subResource: 1, name: {}, namespace: [], userInfo: 'jane', dryRun: 'true' },
    { requestKind: decoded.kind, subResource: '', name: '', namespace: '', username: '', dryRun: false },
  ],
  ['of a nameless user', { userInfo: { username: 7 } }, { username: '' }],
])('a request %s', (_, given, expected) => {
  expect(decodeAdmissionReview(review(given))).toEqual({ request: { ...decoded, ...expected } });
});

const other = (got: string) => `expected apiVersion "admission.k8s.io/v1" and kind "AdmissionReview", got ${got}`;
const uidProblem = 'request.uid must be a string of 1 to 256 characters';
const kindProblem = 'request.kind must be an object with group, version and kind';
const operations = 'request.operation must be one of CREATE, UPDATE, DELETE, CONNECT, got';

test.each<[Json, problem: string, uid?: string]>([
  [null, 'the body must be an object of kind AdmissionReview'],
  [[], 'the body must be an object of kind AdmissionReview'],
  ['x', 'the body must be an object of kind AdmissionReview'],
  [{}, other('apiVersion none and kind none')],
  [{ apiVersion: null, kind: [] }, other('apiVersion null and kind an array')],
  [{ apiVersion: 1, kind: {} }, other('apiVersion 1 and kind an object')],
  [{ apiVersion: 'admission.k8s.io/v1', kind: 'Review' }, other('apiVersion "admission.k8s.io/v1" and kind "Review"')],
  [
    { apiVersion: 'admission.k8s.io/v1beta1', kind: 'AdmissionReview', request: { uid: 'u1' } },
    other('apiVersion "admission.k8s.io/v1beta1" and kind "AdmissionReview"'),
  ],
  [
    { apiVersion: 'a'.repeat(120), kind: 'k'.repeat(121) },
    other(`apiVersion "${'a'.repeat(120)}" and kind "${'k'.repeat(120)}…"`),
  ],
  [{ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview' }, 'request must be an object'],
  [review({ uid: undefined }), uidProblem],
  [review({ uid: '' }), uidProblem],
  [review({ uid: 7 }), uidProblem],
  [review({ uid: 'u'.repeat(257) }), uidProblem],
  [review({ kind: undefined }), kindProblem, 'u1'],
  [review({ kind: 'K' }), kindProblem, 'u1'],
  [review({ kind: { group: 'g', version: 'v1' } }), kindProblem, 'u1'],
  [review({ kind: { group: 'g', kind: 'K' } }), kindProblem, 'u1'],
  [review({ operation: 'PATCH' }), `${operations} "PATCH"`, 'u1'],
  [review({ operation: ['CREATE'] }), `${operations} an array`, 'u1'],
  [review({ operation: undefined }), `${operations} none`, 'u1'],
  [review({ object: [] }), 'request.object must be an object or null', 'u1'],
  [review({ oldObject: 'x' }), 'request.oldObject must be an object or null', 'u1'],
])('%j contains no request', (body, problem, uid) => {
  expect(decodeAdmissionReview(body)).toEqual({ problem, uid });
});

test('a response is wrapped in a review', () => {
  expect(reviewOf({ uid: 'u1', allowed: true })).toEqual({
    apiVersion: 'admission.k8s.io/v1',
    kind: 'AdmissionReview',
    response: { uid: 'u1', allowed: true },
  });
});
