import { describe, expect, test } from 'vitest';
import type { AdmissionOutcome, Finding } from '../../../src/policy/index.ts';
import { createDecide as create, type Reply } from '../../../src/webhook/index.ts';
import type { ConversionNote, DecideOptions, Probe, ReviewNote, Webhook } from '../../../src/webhook/reviews/decide.ts';
import { review, testAdmission } from '../../server/running.ts';

const bytes = (value: unknown) => Buffer.from(typeof value === 'string' ? value : JSON.stringify(value));
/** Decides for a client that waits. */
function createDecide(options: Partial<DecideOptions> = {}) {
  const decideFor = create({ admission: testAdmission, ...options });
  return (webhook: Webhook, body: Uint8Array) => decideFor(webhook, body, () => new AbortController().signal);
}
const decide = createDecide();
const reviewWith = (more: object) => {
  const body = JSON.parse(review('x')) as { request: object };
  return bytes({ ...body, request: { ...body.request, ...more } });
};

describe('the log fields of a review', () => {
  test('contain its attributes', async () => {
    const reply = await decide(
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
  ] as const)('truncate %s after 253 characters, the maximum for names', async (key) => {
    const noted = async (value: string) => {
      const more = key === 'username' ? { userInfo: { username: value } } : { [key]: value };
      return ((await decide('validate', reviewWith(more))).note as ReviewNote).request?.[key];
    };
    const long = `${'a'.repeat(252)}bc`;
    expect(await noted(long.slice(0, 253))).toBe(long.slice(0, 253));
    expect(await noted(long)).toBe(long.slice(0, 253));
  });

  test('include what was unknown to the decision', async () => {
    const knowledge = { unknown: ['Secret' as const], ageMs: 7 };
    const knowing = createDecide({
      admission: { ...testAdmission, validate: (request) => ({ ...testAdmission.validate(request), knowledge }) },
    });
    expect((await knowing('validate', bytes(review('x')))).note).toMatchObject({ knowledge });
    expect((await decide('validate', bytes(review('x')))).note).not.toHaveProperty('knowledge');
  });

  test('have no attributes if the review is malformed', async () => {
    const { code, text, note } = await decide('mutate', reviewWith({ operation: 'PATCH' }));
    expect(code).toBe(200);
    expect(note).toEqual({ kind: 'review', uid: 'uid-of-x', verdict: 'malformed', deniedBy: [], warnedBy: [] });
    expect(JSON.parse(text).response).toMatchObject({
      uid: 'uid-of-x',
      allowed: false,
      status: { code: 400, reason: 'BadRequest', message: expect.stringContaining('operation') },
    });
  });
});

test('a body that is not a review is rejected, and not reported as a bug', async () => {
  for (const body of ['{', 'null', '{"kind":"AdmissionReview"}', Buffer.from([0x22, 0xff, 0x22])]) {
    const { code, text, note } = await decide('validate', Buffer.from(body));
    expect([code, note]).toEqual([400, { kind: 'refused' }]);
    expect(JSON.parse(text)).toMatchObject({ kind: 'Status', code: 400, reason: 'BadRequest' });
  }
});

describe('a bug', () => {
  const broken = (error: unknown) =>
    createDecide({
      admission: {
        ...testAdmission,
        mutate() {
          throw error;
        },
      },
    })('mutate', bytes(review('x')));

  test('is logged with its type and location, without its message', async () => {
    const { code, text, note } = await broken(new RangeError('hunter2'));
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

  test('is logged without lines of its message that look like code', async () => {
    const { note } = await broken(new Error('wrong:\n    at hunter2\nlook at hunter2'));
    expect((note as { stack: string[] }).stack[0]).toMatch(/^\s+at .*decide\.test\.ts/);
    expect(JSON.stringify(note)).not.toContain('hunter2');
  });

  test('is logged without a message that was changed later', async () => {
    const error = new Error('look at hunter2');
    error.message = 'wrong';
    const { stack } = (await (await broken(error)).note) as { stack: string[] };
    expect(stack[0]).toMatch(/^\s+at .*decide\.test\.ts/);
    expect(stack.join()).not.toContain('hunter2');
  });

  test('may be any thrown value', async () => {
    expect((await broken('hunter2')).note).toEqual({ kind: 'bug', error: 'string', stack: [] });
    const bare = new Error('x');
    delete bare.stack;
    expect((await broken(bare)).note).toEqual({ kind: 'bug', error: 'Error', stack: [] });
  });
});

describe('conversion', () => {
  const answering = (status: 'Success' | 'Failure', message = '') =>
    createDecide({
      convert: () => ({
        review: {
          apiVersion: 'apiextensions.k8s.io/v1',
          kind: 'ConversionReview',
          response: {
            uid: 'u',
            convertedObjects: [],
            result: status === 'Failure' ? { status, message } : { status },
          },
        },
      }),
    });
  const noteOf = async (decide: ReturnType<typeof answering>, body: unknown) =>
    (await decide('convert', bytes(body))).note as ConversionNote;

  test('is not available if the server does not convert', async () => {
    const { code, text, note } = await decide('convert', bytes('{}'));
    expect([code, note]).toEqual([404, { kind: 'refused' }]);
    expect(JSON.parse(text).message).toBe('this server does not convert');
  });

  test('is logged with the desired version and the number of objects, and the reason for a failure', async () => {
    const request = { desiredAPIVersion: 'g/v1', objects: [{}, {}] };
    expect(await noteOf(answering('Success'), { request })).toEqual({
      kind: 'conversion',
      uid: 'u',
      result: 'Success',
      desiredAPIVersion: 'g/v1',
      objects: 2,
    });
    expect(await noteOf(answering('Failure', 'no'), { request })).toMatchObject({ result: 'Failure', reason: 'no' });
    for (const body of [7, [], null, {}, { request: 7 }, { request: { desiredAPIVersion: 1, objects: {} } }]) {
      expect(await noteOf(answering('Success'), body)).toEqual({ kind: 'conversion', uid: 'u', result: 'Success' });
    }
  });

  test('truncates what is logged', async () => {
    const version = `${'a'.repeat(252)}bc`;
    const reason = `${'a'.repeat(1023)}bc`;
    expect(await noteOf(answering('Failure', reason), { request: { desiredAPIVersion: version } })).toMatchObject({
      desiredAPIVersion: version.slice(0, 253),
      reason: reason.slice(0, 1024),
    });
  });

  test('rejects what is not a ConversionReview, with the reason', async () => {
    const { code, text, note } = await createDecide({ convert: () => ({ problem: 'not one' }) })(
      'convert',
      bytes('{}'),
    );
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
    createDecide({
      admission: {
        ...testAdmission,
        validate: (request) => ({
          ...testAdmission.validate(request),
          probe: { ...pending, conclude: (findings) => concluded(findings.length) },
        }),
      },
      probe,
    })('validate', bytes(review('x')));

  test('is called with the object, and its findings arrive later', async () => {
    const asked: unknown[] = [];
    const reply: Promise<Reply> = probing(async (given) => {
      asked.push(given);
      return [finding, finding] as Awaited<ReturnType<Probe>>;
    });
    const later = await reply;
    expect(asked).toMatchObject([pending]);
    expect(later).toMatchObject({
      code: 200,
      note: { verdict: 'denied', deniedBy: ['probe'], request: { name: 'x' } },
    });
    expect(JSON.parse(later.text).response).toMatchObject({ allowed: false, status: { message: '2' } });
  });

  test('without findings does not change the reply', async () => {
    expect(await probing(async () => [])).toEqual(await probing(undefined));
  });

  test('that is not configured is not waited for', async () => {
    for (const reply of [
      await probing(undefined),
      await createDecide({ probe: async () => [] })('validate', bytes(review('x'))),
    ]) {
      expect(reply).toMatchObject({ code: 200, note: { kind: 'review', verdict: 'allowed' } });
    }
  });

  test('that throws when it concludes is a bug', async () => {
    const reply = createDecide({
      admission: {
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
      probe: async () => [finding],
    })('validate', bytes(review('x')));
    expect(await reply).toMatchObject({ code: 500, note: { kind: 'bug', error: 'RangeError' } });
  });
});

describe('a large body', () => {
  const handing = createDecide({
    admission: {
      ...testAdmission,
      validate: (request) => ({ ...testAdmission.validate(request), handedBack: request }),
    },
  });
  /** Decides by a thread that another admission decides in, beyond four bytes. */
  const withThread = (inThread: typeof handing) =>
    createDecide({
      sideThread: {
        overBytes: 4,
        decide: ({ webhook, body }) => inThread(webhook, body),
        close: async () => {},
      },
    });

  test('is decided in the thread if it exceeds the threshold by one byte', async () => {
    const inThread = async (): Promise<Reply> => ({ code: 200, text: 'in the thread', note: { kind: 'refused' } });
    const decideBody = withThread(inThread);
    expect((await decideBody('validate', bytes('[[]]'))).code).toBe(400);
    expect((await decideBody('validate', bytes('[[]] '))).text).toBe('in the thread');
  });

  test('that needs facts is handed back, and decided where the facts are', async () => {
    expect((await handing('validate', bytes(review('x')))).handedBack).toMatchObject({ uid: 'uid-of-x', name: 'x' });
    expect(await decide('validate', bytes(review('x')))).not.toHaveProperty('handedBack');
    const denied = await withThread(handing)('validate', bytes(review('denied')));
    expect(denied).toMatchObject({
      code: 200,
      note: { verdict: 'denied', deniedBy: ['url-scheme', 'url-host'], request: { name: 'denied' } },
    });
    expect(JSON.parse(denied.text).response).toMatchObject({ uid: 'uid-of-denied', allowed: false });
  });

  test('whose decision throws after it was handed back is a bug', async () => {
    const request = { uid: 'u', name: 'bug' } as never;
    const { code, text, note } = await withThread(async () => ({
      code: 200,
      text: '',
      note: { kind: 'refused' },
      handedBack: request,
    }))('validate', bytes(review('x')));
    expect([code, JSON.parse(text).reason]).toEqual([500, 'InternalError']);
    expect(note).toMatchObject({ kind: 'bug', error: 'TypeError' });
    expect(JSON.stringify(note)).not.toContain('hunter2');
  });
});
