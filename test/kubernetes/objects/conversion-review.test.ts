import { expect, test } from 'vitest';
import { decodeConversionReview, type Json } from '../../../src/kubernetes/index.ts';

const request = { uid: 'u1', desiredAPIVersion: 'g.io/v2', objects: [{ a: 1 }, {}] };
const review = (more: object): Json =>
  ({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request: { ...request, ...more } }) as Json;

test.each<[string, object]>([
  ['as the API server sends it', {}],
  ['of no objects', { objects: [] }],
  ['with the longest uid', { uid: 'u'.repeat(256) }],
])('a request %s', (_, more) => {
  expect(decodeConversionReview(review(more))).toEqual({ request: { ...request, ...more } });
});

const other = (got: string) => `expected apiVersion "apiextensions.k8s.io/v1" and kind "ConversionReview", got ${got}`;
const uidProblem = 'request.uid must be a string of 1 to 256 characters';

test.each<[Json, problem: string, uid?: string]>([
  [[], 'the body must be an object of kind ConversionReview'],
  [
    { apiVersion: 'apiextensions.k8s.io/v1', kind: 'Review', request: {} },
    other('apiVersion "apiextensions.k8s.io/v1" and kind "Review"'),
  ],
  [
    { apiVersion: 'apiextensions.k8s.io/v1beta1', kind: 'ConversionReview', request: { uid: 'u1' } },
    other('apiVersion "apiextensions.k8s.io/v1beta1" and kind "ConversionReview"'),
  ],
  [{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', request: [] }, 'request must be an object'],
  [review({ uid: undefined }), uidProblem],
  [review({ uid: 7 }), uidProblem],
  [review({ uid: '' }), uidProblem],
  [review({ uid: 'u'.repeat(257) }), uidProblem],
  [review({ desiredAPIVersion: undefined }), 'request.desiredAPIVersion must be a string, got none', 'u1'],
  [review({ objects: {} }), 'request.objects must be an array, got an object', 'u1'],
  [review({ objects: [{}, null] }), 'request.objects[1] must be an object, got null', 'u1'],
])('%j contains no request', (body, problem, uid) => {
  expect(decodeConversionReview(body)).toEqual({ problem, uid });
});
