import { describe, expect, test } from 'vitest';
import type { AdmissionRequest } from '../../../src/kubernetes/index.ts';
import type { AdmissionOutcome, Finding } from '../../../src/policy/index.ts';
import { createDecide as create, type Reply } from '../../../src/webhook/index.ts';
import { type ConversionNote, createJudge, type Probe, type ReviewNote } from '../../../src/webhook/reviews/decide.ts';
import type { Webhook } from '../../../src/webhook/reviews/webhook.ts';
import { review, testAdmission } from '../../server/running.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
/** Decisions that wait for nothing. */
const createDecide = (...options: Parameters<typeof create>) =>
  create(...options) as (webhook: Webhook, body: Uint8Array) => Reply;
const decide = createDecide(testAdmission, undefined);
const reviewWith = (more: object) => {
  const body = JSON.parse(review('x')) as { request: object };
  return bytes({ ...body, request: { ...body.request, ...more } });
};

/** The request of a review as a thread hands it back. */
function handedBack(name: string): AdmissionRequest {
  let handed: AdmissionRequest | undefined;
  createDecide(
    {
      ...testAdmission,
      validate(request) {
        handed = request;
        return testAdmission.mutate(request);
      },
    },
    undefined,
  )('validate', bytes(review(name)));
  return handed as AdmissionRequest;
}

describe('the log fields of a review', () => {
  test('contain its attributes', () => {
    const reply = decide(
      'validate',
      reviewWith({ operation: 'UPDATE', subResource: 'status', dryRun: true, userInfo: { username: 'bob' } }),
    );
    expect(reply.code).toBe(200);
    expect(reply.note).toEqual({
      kind: 'review',
      uid: 'uid-of-x',
      verdict: 'allowed',
      deniedBy: [],
      warnedBy: [],
      request: { operation: 'UPDATE', subResource: 'status', name: 'x', username: 'bob', dryRun: true },
    });
    expect(JSON.parse(reply.text)).toEqual({
      apiVersion: 'admission.k8s.io/v1',
      kind: 'AdmissionReview',
      response: { uid: 'uid-of-x', allowed: true },
    });
  });

  test.each([
    'username',
    'name',
    'subResource',
  ] as const)('truncate %s after 253 characters, the maximum for names', (key) => {
    const noted = (value: string) => {
      const more = key === 'username' ? { userInfo: { username: value } } : { [key]: value };
      return (decide('validate', reviewWith(more)).note as ReviewNote).request?.[key];
    };
    const long = `${'a'.repeat(252)}bc`;
    expect(noted(long.slice(0, 253))).toBe(long.slice(0, 253));
    expect(noted(long)).toBe(long.slice(0, 253));
  });

  test('include what was unknown to the decision', () => {
    const knowledge = { unknown: ['Secret' as const], ageMs: 7 };
    const knowing = createDecide(
      { ...testAdmission, validate: (request) => ({ ...testAdmission.validate(request), knowledge }) },
      undefined,
    );
    expect(knowing('validate', bytes(review('x'))).note).toMatchObject({ knowledge });
    expect(decide('validate', bytes(review('x'))).note).not.toHaveProperty('knowledge');
  });

  test('have no attributes if the review is malformed', () => {
    const { code, text, note } = decide('mutate', reviewWith({ operation: 'PATCH' }));
    expect(code).toBe(200);
    expect(note).toEqual({ kind: 'review', uid: 'uid-of-x', verdict: 'malformed', deniedBy: [], warnedBy: [] });
    expect(JSON.parse(text).response).toMatchObject({
      uid: 'uid-of-x',
      allowed: false,
      status: { code: 400, reason: 'BadRequest', message: expect.stringContaining('operation') },
    });
  });
});

test('a body that is not a review is rejected, and not reported as a bug', () => {
  for (const body of ['{', 'null', '{"kind":"AdmissionReview"}', Buffer.from([0x22, 0xff, 0x22])]) {
    const { code, text, note } = decide('validate', Buffer.from(body));
    expect([code, note]).toEqual([400, { kind: 'refused' }]);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' });
  }
});

describe('a bug', () => {
  const broken = (error: unknown) =>
    createDecide(
      {
        ...testAdmission,
        mutate() {
          throw error;
        },
      },
      undefined,
    )('mutate', bytes(review('x')));

  test('is logged with its type and location, without its message', () => {
    const { code, text, note } = broken(new RangeError('hunter2'));
    expect(code).toBe(500);
    expect(JSON.parse(text)).toMatchObject({
      code: 500,
      reason: 'InternalError',
      message: 'internal error; see the log of extensionconfig-webhook',
    });
    expect(note).toMatchObject({ kind: 'bug', error: 'RangeError' });
    const { stack } = note as { stack: string[] };
    expect(stack[0]).toMatch(/^\s+at .*decide\.test\.ts/);
    expect(stack.filter((line) => !/^\s+at /.test(line))).toEqual([]);
    expect(text + JSON.stringify(note)).not.toContain('hunter2');
  });

  test('is logged without lines of its message that look like code', () => {
    const { note } = broken(new Error('wrong:\n    at hunter2\nlook at hunter2'));
    expect((note as { stack: string[] }).stack[0]).toMatch(/^\s+at .*decide\.test\.ts/);
    expect(JSON.stringify(note)).not.toContain('hunter2');
  });

  test('is logged without a message that was changed later', () => {
    const error = new Error('look at hunter2');
    error.message = 'wrong';
    const { stack } = broken(error).note as { stack: string[] };
    expect(stack[0]).toMatch(/^\s+at .*decide\.test\.ts/);
    expect(stack.join()).not.toContain('hunter2');
  });

  test('may be any thrown value', () => {
    expect(broken('hunter2').note).toEqual({ kind: 'bug', error: 'string', stack: [] });
    const bare = new Error('x');
    delete bare.stack;
    expect(broken(bare).note).toEqual({ kind: 'bug', error: 'Error', stack: [] });
  });
});

describe('conversion', () => {
  const answering = (status: 'Success' | 'Failure', message = '') =>
    createDecide(testAdmission, () => ({
      review: {
        apiVersion: 'apiextensions.k8s.io/v1',
        kind: 'ConversionReview',
        response: {
          uid: 'u',
          convertedObjects: [],
          result: status === 'Failure' ? { status, message } : { status },
        },
      },
    }));
  const noteOf = (decide: ReturnType<typeof answering>, body: unknown) =>
    decide('convert', bytes(body)).note as ConversionNote;

  test('is not available if the server does not convert', () => {
    const { code, text, note } = decide('convert', bytes('{}'));
    expect([code, note]).toEqual([404, { kind: 'refused' }]);
    expect(JSON.parse(text).message).toBe('this server does not convert');
  });

  test('is logged with the desired version and the number of objects, and the reason for a failure', () => {
    const request = { desiredAPIVersion: 'g/v1', objects: [{}, {}] };
    expect(noteOf(answering('Success'), { request })).toEqual({
      kind: 'conversion',
      uid: 'u',
      result: 'Success',
      desiredAPIVersion: 'g/v1',
      objects: 2,
    });
    expect(noteOf(answering('Failure', 'no'), { request })).toMatchObject({ result: 'Failure', reason: 'no' });
    for (const body of [7, [], null, {}, { request: 7 }, { request: { desiredAPIVersion: 1, objects: {} } }]) {
      expect(noteOf(answering('Success'), body)).toEqual({ kind: 'conversion', uid: 'u', result: 'Success' });
    }
  });

  test('truncates what is logged', () => {
    const version = `${'a'.repeat(252)}bc`;
    const reason = `${'a'.repeat(1023)}bc`;
    expect(noteOf(answering('Failure', reason), { request: { desiredAPIVersion: version } })).toMatchObject({
      desiredAPIVersion: version.slice(0, 253),
      reason: reason.slice(0, 1024),
    });
  });

  test('rejects what is not a ConversionReview, with the reason', () => {
    const { code, text, note } = createDecide(testAdmission, () => ({ problem: 'not one' }))('convert', bytes('{}'));
    expect([code, note]).toEqual([400, { kind: 'refused' }]);
    expect(JSON.parse(text).message).toBe('not one');
  });
});

describe('a probe', () => {
  const finding: Finding = { path: ['spec'], reason: 'FieldValueInvalid', message: 'the server does not answer' };
  const concluded = (findings: number): AdmissionOutcome => ({
    response: { uid: 'uid-of-x', allowed: false, status: { code: 422, reason: 'Invalid', message: `${findings}` } },
    verdict: 'denied',
    deniedBy: ['probe'],
    warnedBy: [],
  });
  const pending = { config: {}, facts: undefined } as Parameters<Probe>[0];
  const probing = (probe: Probe | undefined) =>
    create(
      {
        ...testAdmission,
        validate: (request) => ({
          ...testAdmission.validate(request),
          probe: { ...pending, conclude: (findings) => concluded(findings.length) },
        }),
      },
      undefined,
      { probe },
    )('validate', bytes(review('x')));

  test('is called with the object, and its findings arrive later', async () => {
    const asked: unknown[] = [];
    const reply = probing(async (given) => {
      asked.push(given);
      return [finding, finding] as Awaited<ReturnType<Probe>>;
    });
    expect(asked).toMatchObject([pending]);
    const later = await reply;
    expect(later).toMatchObject({
      code: 200,
      note: { verdict: 'denied', deniedBy: ['probe'], request: { name: 'x' } },
    });
    expect(JSON.parse(later.text).response).toMatchObject({ allowed: false, status: { message: '2' } });
  });

  test('without findings does not change the reply', async () => {
    expect(await probing(async () => [])).toEqual(probing(undefined));
  });

  test('that is not configured is not waited for', () => {
    for (const reply of [
      probing(undefined),
      create(testAdmission, undefined, { probe: async () => [] })('validate', bytes(review('x'))),
    ]) {
      expect(reply).toMatchObject({ code: 200, note: { kind: 'review', verdict: 'allowed' } });
    }
  });

  test('that throws when it concludes is a bug', async () => {
    const reply = create(
      {
        ...testAdmission,
        validate: (request) => ({
          ...testAdmission.validate(request),
          probe: {
            ...pending,
            conclude() {
              throw new RangeError('hunter2');
            },
          },
        }),
      },
      undefined,
      { probe: async () => [finding] },
    )('validate', bytes(review('x')));
    expect(await reply).toMatchObject({ code: 500, note: { kind: 'bug', error: 'RangeError' } });
  });
});

describe('a review that needs facts', () => {
  test('is handed back with its request, and no other is', () => {
    const handing = createDecide(
      {
        ...testAdmission,
        validate: (request) => ({ ...testAdmission.validate(request), handedBack: request }),
      },
      undefined,
    );
    expect(handing('validate', bytes(review('x'))).handedBack).toMatchObject({ uid: 'uid-of-x', name: 'x' });
    expect(decide('validate', bytes(review('x')))).not.toHaveProperty('handedBack');
  });

  test('is decided where the facts are, for the webhook that received it', () => {
    const request = handedBack('denied');
    const judge = createJudge(testAdmission);
    const denied = judge('validate', request);
    expect(denied).toMatchObject({
      code: 200,
      note: { verdict: 'denied', deniedBy: ['url-scheme', 'url-host'], request: { name: 'denied' } },
    });
    expect(JSON.parse(denied.text).response).toMatchObject({ uid: 'uid-of-denied', allowed: false });
    expect(JSON.parse(judge('mutate', request).text).response).toMatchObject({
      allowed: true,
      patchType: 'JSONPatch',
    });
  });

  test('whose decision throws is a bug', () => {
    const { code, text, note } = createJudge(testAdmission)('validate', handedBack('bug'));
    expect([code, JSON.parse(text).reason]).toEqual([500, 'InternalError']);
    expect(note).toMatchObject({ kind: 'bug', error: 'TypeError' });
    expect(JSON.stringify(note)).not.toContain('hunter2');
  });
});
