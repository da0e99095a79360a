import { afterAll, beforeAll, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { eventually, send, startWebhook } from '../client.ts';

let definitions = 0;
let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

/** A conversion to v2 that also changes metadata. */
function convertedWith(objects: JsonObject[], changes: JsonObject): JsonObject {
  const convertedObjects = objects.map((object) => ({
    ...object,
    apiVersion: 'example.com/v2',
    metadata: { ...(object.metadata as JsonObject), ...changes },
  }));
  return { result: { status: 'Success' }, convertedObjects };
}

// Mistakes of a conversion webhook. Each is an error for the client that names the webhook's resource, never a crash.
test.each<[string, (objects: JsonObject[]) => JsonObject, RegExp | undefined]>([
  ['reports a failure', () => ({ result: { status: 'Failed', message: 'cannot' } }), /failed: cannot$/],
  ['reports nothing', () => ({}), /failure without a message/],
  ['has a different uid', () => ({ uid: 'other', result: { status: 'Success' } }), /different uid/],
  ['loses an object', () => ({ result: { status: 'Success' }, convertedObjects: [] }), /returned 0 objects for 1/],
  [
    'does not convert',
    (objects) => ({ result: { status: 'Success' }, convertedObjects: objects }),
    /returned example.com\/v1 instead of example.com\/v2/,
  ],
  [
    'changes the name',
    (objects) => convertedWith(objects, { name: 'other' }),
    /invalid object at index 0: must have the same name: one != other$/,
  ],
  [
    'changes the creation time and adds a label',
    (objects) => convertedWith(objects, { creationTimestamp: null, labels: { added: 'x' } }),
    undefined,
  ],
])('a conversion webhook that %s', async (_name, convert, message) => {
  const webhook = await startWebhook((_url, review) => convert((review.request as { objects: JsonObject[] }).objects));
  const plural = `things${++definitions}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const definition = {
    metadata: { name: `${plural}.example.com` },
    spec: {
      group: 'example.com',
      scope: 'Cluster',
      names: { plural, kind: `Thing${plural}` },
      versions: [
        { name: 'v1', served: true, storage: true, schema },
        { name: 'v2', served: true, storage: false, schema },
      ],
      conversion: {
        strategy: 'Webhook',
        webhook: {
          conversionReviewVersions: ['v1'],
          clientConfig: { url: `${webhook.url}/convert`, caBundle: webhook.caBundle },
        },
      },
    },
  };
  await send(sandbox, 'POST', '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', { body: definition });
  const path = (version: string) => `/apis/example.com/${version}/${plural}`;
  await eventually(
    () => send(sandbox, 'POST', path('v1'), { body: { metadata: { name: 'one' } } }),
    ({ status }) => status === 201 || status === 409,
  );
  const read = await send(sandbox, 'GET', `${path('v2')}/one`);
  if (message === undefined) {
    // A webhook may change only labels and annotations.
    expect(read.json.metadata).toMatchObject({ labels: { added: 'x' }, creationTimestamp: expect.any(String) });
  } else {
    expect(read.json).toMatchObject({ code: 500, reason: 'InternalError' });
    expect(read.json.message).toMatch(message);
    expect((await send(sandbox, 'GET', path('v2'))).status).toBe(500);
    const watched = await send(sandbox, 'GET', `${path('v2')}?watch=1`);
    expect(JSON.parse(watched.text)).toMatchObject({
      type: 'ERROR',
      object: { code: 500, message: read.json.message },
    });
    expect((await send(sandbox, 'GET', path('v1'))).status).toBe(200);
  }
  await webhook.stop();
});
