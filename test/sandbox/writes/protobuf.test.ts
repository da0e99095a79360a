import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { isJsonObject, type Json, type JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { parseProtobuf } from '../../../src/sandbox/writes/protobuf.ts';
import { runs } from '../../support/runs.ts';
import { send } from '../client.ts';

interface Recorded {
  command: string;
  body: string;
  object: JsonObject;
}

const recorded = JSON.parse(
  readFileSync(new URL('../../support/fixtures/kubectl-protobuf.json', import.meta.url), 'utf8'),
) as Recorded[];

/** A copy without the nulls that Go prints for unset times. */
function withoutNulls(value: Json): Json {
  if (Array.isArray(value)) {
    return value.map(withoutNulls);
  }
  if (!isJsonObject(value)) {
    return value;
  }
  return Object.fromEntries(
    Object.entries(value)
      .filter(([, item]) => item !== null)
      .map(([key, item]) => [key, withoutNulls(item)]),
  );
}

function bytesOf({ body }: Recorded): Buffer {
  return Buffer.from(body, 'base64');
}

test.each(recorded)('$command: its protobuf is equivalent to its JSON', (call) => {
  expect(parseProtobuf(bytesOf(call), String(call.object.kind))).toEqual(withoutNulls(call.object));
});

test('a truncated body is either rejected or an object', () => {
  const bodies = recorded.map(bytesOf);
  const cut = fc
    .constantFrom(...bodies)
    .chain((body) => fc.tuple(fc.constant(body), fc.nat(body.length - 1), fc.uint8Array({ maxLength: 8 })));
  fc.assert(
    fc.property(cut, ([body, at, tail]) => {
      let object: JsonObject | undefined;
      try {
        object = parseProtobuf(Buffer.concat([body.subarray(0, at), tail]), 'Secret');
      } catch (error) {
        expect(error).toBeInstanceOf(Error);
      }
      expect(object === undefined || isJsonObject(object)).toBe(true);
    }),
    { numRuns: runs(200) },
  );
});

test.each([
  ['no prefix', Buffer.from('{}'), /prefix/],
  ['a kind without a message', Buffer.from('k8s\0\x0a\x09\x0a\x02v1\x12\x03Foo'), /Foo; send JSON/],
  [
    'a compressed object',
    Buffer.from('k8s\0\x0a\x0f\x0a\x02v1\x12\x09ConfigMap\x1a\x04gzip'),
    /content encoding "gzip"/,
  ],
  ['nonsense', Buffer.from('k8s\0\xff\xff\xff', 'latin1'), /./],
])('%s is rejected', (_name, body, message) => {
  expect(() => parseProtobuf(body, 'ConfigMap')).toThrow(message);
});

let sandbox: Sandbox;
beforeAll(async () => {
  sandbox = await startSandbox();
});
afterAll(() => sandbox.stop());

const headers = {
  'content-type': 'application/vnd.kubernetes.protobuf',
  accept: 'application/vnd.kubernetes.protobuf,application/json',
};

function bodyOf(command: string): Buffer {
  return bytesOf(recorded.find((call) => call.command.startsWith(`kubectl create ${command} `)) as Recorded);
}

test('a Secret sent as protobuf is returned as JSON', async () => {
  const made = await send(sandbox, 'POST', '/api/v1/namespaces/default/secrets', { headers, body: bodyOf('secret') });
  expect(made.status).toBe(201);
  expect(made.headers['content-type']).toBe('application/json');
  expect(made.json.data).toEqual({ user: Buffer.from('admin').toString('base64'), empty: '' });
  expect(made.json.metadata).not.toHaveProperty('generateName');
});

test('zero replicas stay zero', async () => {
  const path = '/apis/apps/v1/namespaces/default/deployments';
  const made = await send(sandbox, 'POST', path, { headers, body: bodyOf('deployment') });
  expect(made.json.spec).toMatchObject({ replicas: 0 });
});

test('a body of another kind is rejected', async () => {
  const answer = await send(sandbox, 'POST', '/api/v1/namespaces/default/configmaps', {
    headers,
    body: bodyOf('secret'),
  });
  expect(answer.status).toBe(400);
  expect(answer.json.message).toBe('Secret in version "v1" cannot be handled as a ConfigMap');
});

test('a body that is not protobuf is rejected by media type', async () => {
  const answer = await send(sandbox, 'POST', '/api/v1/namespaces/default/configmaps', { headers, body: '{}' });
  expect(answer.status).toBe(400);
  expect(answer.json.message).toMatch(/protobuf parse error: the body does not start with/);
});

test('a kind that is never sent as protobuf is rejected', async () => {
  const path = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const answer = await send(sandbox, 'POST', path, {
    headers,
    body: Buffer.from('k8s\0'),
  });
  expect(answer.status).toBe(400);
  expect(answer.json.message).toMatch(/no protobuf message is known for CustomResourceDefinition; send JSON/);
});
