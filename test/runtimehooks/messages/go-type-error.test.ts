import { expect, test } from 'vitest';
import type { Json } from '../../../src/kubernetes/index.ts';
import { hooks } from '../../../src/runtimehooks/index.ts';
import { decodeResponse } from '../../../src/runtimehooks/messages/index.ts';

const problemOf = (hook: keyof typeof hooks, response: Json) => {
  const decoded = decodeResponse(hooks[hook], response);
  return 'problem' in decoded ? decoded.problem : undefined;
};

// As Go 1.26 words it, for the structs of api/runtime/hooks/v1alpha1.
test.each<[keyof typeof hooks, Json, string | undefined]>([
  ['Discovery', [], 'json: cannot unmarshal array into Go value of type v1alpha1.DiscoveryResponse'],
  [
    'Discovery',
    { Status: true },
    'json: cannot unmarshal bool into Go struct field DiscoveryResponse.CommonResponse.status of type v1alpha1.ResponseStatus',
  ],
  [
    'Discovery',
    { handlers: [{ name: 'a' }, { failurePolicy: 1, name: 2 }], kind: 5 },
    'json: cannot unmarshal number into Go struct field ExtensionHandler.handlers.failurePolicy of type v1alpha1.FailurePolicy',
  ],
  [
    'Discovery',
    { handlers: [{ requestHook: { hook: [] } }] },
    'json: cannot unmarshal array into Go struct field GroupVersionHook.handlers.requestHook.hook of type string',
  ],
  [
    'Discovery',
    { handlers: ['a'] },
    'json: cannot unmarshal string into Go struct field DiscoveryResponse.handlers of type v1alpha1.ExtensionHandler',
  ],
  [
    'BeforeClusterCreate',
    { retryAfterSeconds: 1.5 },
    'json: cannot unmarshal number 1.5 into Go struct field BeforeClusterCreateResponse.CommonRetryResponse.retryAfterSeconds of type int32',
  ],
  [
    'BeforeClusterCreate',
    { retryAfterSeconds: 2147483648 },
    'json: cannot unmarshal number 2147483648 into Go struct field BeforeClusterCreateResponse.CommonRetryResponse.retryAfterSeconds of type int32',
  ],
  ['GeneratePatches', { items: [{ uid: 'a', patch: 'abc!' }] }, 'illegal base64 data at input byte 3'],
  ['GeneratePatches', { items: [{ uid: 'a', patch: 'YWJjZGU' }] }, 'illegal base64 data at input byte 4'],
  [
    'GeneratePatches',
    { items: [{ uid: 'a', patch: {} }] },
    'json: cannot unmarshal object into Go struct field GeneratePatchesResponseItem.items.patch of type []uint8',
  ],
  ['GeneratePatches', { status: 'Success', items: null, more: 1 }, undefined],
])('%s %j', (hook, response, problem) => {
  expect(problemOf(hook, response)).toBe(problem);
});
