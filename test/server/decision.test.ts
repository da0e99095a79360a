import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import type { AdmissionResponse } from '../../src/kubernetes/index.ts';
import { admission } from '../policy/admission/policy.ts';
import { causesAsText, recordedCases } from '../policy/admission/recorded.ts';
import { capturedCalls, keepAliveAgent, mutate, send, start, stopAll, validate } from './running.ts';

/** The real decisions, with both profiles, over HTTPS. */
let strict: Awaited<ReturnType<typeof start>>;
let upstream: Awaited<ReturnType<typeof start>>;
const agent = keepAliveAgent();

beforeAll(async () => {
  strict = await start({ admission: admission() });
  upstream = await start({ admission: admission({ profile: 'upstream' }) });
});
afterAll(async () => {
  agent.destroy();
  await stopAll();
});

const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };

test('every recorded verdict of Cluster API is the same over HTTPS', async () => {
  for (const { id, operation, validated, oldObject, validate: recorded } of recordedCases) {
    const uid = `case-${id}`;
    const body = JSON.stringify({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      request: { uid, kind, operation, object: validated, oldObject },
    });
    const answer = await send(upstream.webhookPort, validate, body, { agent });
    const response = answer.json().response as unknown as AdmissionResponse;
    expect({
      uid: response.uid,
      allowed: response.allowed,
      code: response.status?.code ?? 200,
      causes: causesAsText(response.status?.details?.causes ?? []),
    }).toEqual({ uid, ...recorded, causes: causesAsText(recorded.causes) });
  }
});

test.each(
  capturedCalls.filter(({ body }) => body.kind === 'AdmissionReview'),
)('the captured call $name is allowed', async ({ name, body }) => {
  const path = name.includes('mutate') ? mutate : validate;
  const answer = await send(strict.webhookPort, `${path}?timeout=10s`, JSON.stringify(body), { agent });
  expect(answer.code).toBe(200);
  const deprecated = name.includes('v1alpha1') && path === validate;
  expect(answer.json().response).toEqual({
    uid: body.request.uid,
    allowed: true,
    ...(deprecated && { warnings: [expect.stringContaining('is deprecated')] }),
  });
});

test('no body makes the server respond with 5xx or stop', async () => {
  const captured = capturedCalls.map(({ body }) => JSON.stringify(body));
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 2000 }).map((array) => Buffer.from(array)),
    fc.json().map((text) => Buffer.from(text)),
    // A captured review in which a part is replaced.
    fc
      .tuple(fc.constantFrom(...captured), fc.double({ min: 0, max: 1, noNaN: true }), fc.nat(20), fc.string())
      .map(([text, at, length, piece]) => {
        const start = Math.floor(at * text.length);
        return Buffer.from(text.slice(0, start) + piece + text.slice(start + length));
      }),
    fc
      .tuple(fc.constantFrom(...captured), fc.double({ min: 0, max: 1, noNaN: true }))
      .map(([text, at]) => Buffer.from(text).subarray(0, Math.floor(at * text.length))),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.constantFrom(mutate, validate), async (body, path) => {
      const { code, json } = await send(strict.webhookPort, path, body, { agent });
      expect(code).toBeLessThan(500);
      expect(json()).toMatchObject(code === 200 ? { kind: 'AdmissionReview' } : { kind: 'Status', code });
    }),
    { numRuns: 300 },
  );
  expect((await fetch(`${strict.health}/healthz`)).status).toBe(200);
});
