import { describe, expect, test } from 'vitest';
import { type Handler, HandlerFailure, handler } from '../../../../src/extension/index.ts';
import { callHandler, requestFor } from '../../../../src/extension/sdk/testing/index.ts';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { hooks } from '../../../../src/runtimehooks/index.ts';

const create = (handle: Parameters<typeof handler<'BeforeClusterCreate'>>[1]['handle']) =>
  handler('BeforeClusterCreate', { name: 'create', handle });
const saysWhy = 'see the log of the extension';

describe('how a call ends', () => {
  const plain = (handle: Handler['handle']): Handler => ({
    name: 'plain',
    hook: hooks.AfterControlPlaneInitialized,
    handle,
  });

  test.each<[string, Handler, string, JsonObject]>([
    ['done', create((_, { answer }) => answer.done()), 'success', { status: 'Success', retryAfterSeconds: 0 }],
    [
      'done, with a message',
      create((_, { answer }) => answer.done({ message: 'fine' })),
      'success',
      { status: 'Success', retryAfterSeconds: 0, message: 'fine' },
    ],
    [
      'blocking',
      create(async (_, { answer }) => answer.retry(5, 'wait')),
      'blocking',
      { status: 'Success', retryAfterSeconds: 5, message: 'wait' },
    ],
    [
      'failure',
      create((_, { answer }) => answer.fail('no')),
      'failure',
      { status: 'Failure', retryAfterSeconds: 0, message: 'no' },
    ],
    [
      'a failure that is thrown',
      create(() => {
        throw new HandlerFailure('no');
      }),
      'failure',
      { status: 'Failure', retryAfterSeconds: 0, message: 'no' },
    ],
    ...[{ status: 'Failure', message: 'no' }, { retryAfterSeconds: 7 }, { apiVersion: 'a/v1' }, { kind: 'A' }].map(
      (whole): [string, Handler, string, JsonObject] => [
        `done, with a part of another response: ${JSON.stringify(whole)}`,
        create((_, { answer }) => answer.done(whole)),
        'error',
        { status: 'Failure', retryAfterSeconds: 0, message: `handler create failed: ${saysWhy}` },
      ],
    ),
    [
      'an error',
      create(async () => {
        throw new Error('hunter2');
      }),
      'error',
      { status: 'Failure', retryAfterSeconds: 0, message: `handler create failed: ${saysWhy}` },
    ],
    [
      'a wait of no time, which Cluster API would take for done',
      create((_, { answer }) => answer.retry(Math.floor(0.4), 'backups run')),
      'error',
      { status: 'Failure', retryAfterSeconds: 0, message: `handler create failed: ${saysWhy}` },
    ],
    [
      'a thrown value that is not an error and has no text',
      create(() => {
        throw Object.create(null);
      }),
      'error',
      { status: 'Failure', retryAfterSeconds: 0, message: `handler create failed: ${saysWhy}` },
    ],
    [
      'a failure whose message is not a text',
      create(async () => {
        throw Object.assign(new HandlerFailure('no'), { message: 5 });
      }),
      'failure',
      { status: 'Failure', retryAfterSeconds: 0, message: '5' },
    ],
    [
      'an incomplete response',
      create(() => ({ status: 'Success' }) as never),
      'invalid answer',
      { status: 'Failure', retryAfterSeconds: 0, message: `handler create gave an invalid answer: ${saysWhy}` },
    ],
    [
      'a negative time',
      create((_, { answer }) => answer.retry(-1, 'wait')),
      'error',
      { status: 'Failure', retryAfterSeconds: 0, message: `handler create failed: ${saysWhy}` },
    ],
    ['done, of a hook that cannot block', plain((_, { answer }) => answer.done()), 'success', { status: 'Success' }],
    [
      'failure, of a hook that cannot block',
      plain(() => {
        throw new Error('x');
      }),
      'error',
      { status: 'Failure', message: `handler plain failed: ${saysWhy}` },
    ],
  ])('%s', async (_, one, result, response) => {
    expect(await callHandler(one)).toMatchObject({ result, cluster: 'default/example' });
    expect((await callHandler(one)).response).toEqual(response);
  });

  test('a failure with a negative retryAfterSeconds is a failure', async () => {
    const failing = create((_, { answer }) => {
      const made = answer.fail('no') as unknown as { response: JsonObject };
      made.response.retryAfterSeconds = -1;
      return made as never;
    });
    expect(await callHandler(failing)).toMatchObject({
      result: 'failure',
      response: { status: 'Failure', message: 'no' },
    });
  });

  const circular: { itself?: unknown } = {};
  circular.itself = circular;
  let deep: object = {};
  for (let level = 0; level < 100_000; level++) {
    deep = { deep };
  }
  const discovers = (value: unknown): Handler => ({
    name: 'discovers',
    hook: hooks.DiscoverVariables,
    handle: (_, { answer }) =>
      (answer.done as (fields: object) => unknown)({
        variables: [{ name: 'size', required: false, schema: { openAPIV3Schema: { default: value } } }],
      }),
  });
  const patches = (value: unknown): Handler => ({
    name: 'patches',
    hook: hooks.GeneratePatches,
    handle: (_, { answer }) => (answer.done as (fields: object) => unknown)({ items: value }),
  });
  test.each<[string, Handler]>([
    ['more invalid items than checks should list', patches(new Array(400_000).fill({ ['x'.repeat(60)]: 1 }))],
    ['a text that only escapes make so long', discovers('\u0000'.repeat(4 * 1024 * 1024))],
  ])('an answer of more than 20 MiB is not made: %s', async (_, one) => {
    const { response, text, result, lines } = await callHandler(one);
    expect(result).toBe('invalid answer');
    const message = `handler ${one.name} gave an answer of more than 20 MiB, which is not sent: it has to answer with less`;
    expect(response).toEqual({ status: 'Failure', message });
    expect(JSON.parse(text)).toMatchObject({ kind: `${one.hook.name}Response`, status: 'Failure', message });
    expect(lines).toEqual([expect.objectContaining({ level: 50, problem: 'an answer of more than 20 MiB' })]);
  });

  test('an answer of almost 20 MiB is sent', async () => {
    const { result, text } = await callHandler(discovers(['x'.repeat(20 * 1024 * 1024 - 400), 1]));
    expect(result).toBe('success');
    expect(text.length).toBeGreaterThan(20 * 1024 * 1024 - 400);
  });

  test('fields that JSON leaves out do not count', async () => {
    const omitted = { ['x'.repeat(60)]: undefined, y: Symbol('y'), z: () => {} };
    const { result, text } = await callHandler(discovers(new Array(350_000).fill(omitted)));
    expect(result).toBe('success');
    expect(text.length).toBeLessThan(2 * 1024 * 1024);
  });

  test.each<[string, Handler, string]>([
    ['a bigint', discovers(1n), 'serialize a BigInt'],
    ['an object that contains itself', discovers(circular), 'circular structure'],
    ['an object that nests too deeply', discovers(deep), 'Maximum call stack'],
    ['a bigint, later', { ...discovers(0), handle: async (_, context) => discovers(1n).handle(_, context) }, 'BigInt'],
  ])('an answer that JSON cannot represent is an invalid one: %s', async (_, one, problem) => {
    const { response, text, result, lines } = await callHandler(one);
    expect(result).toBe('invalid answer');
    expect(response).toEqual({ status: 'Failure', message: `handler discovers gave an invalid answer: ${saysWhy}` });
    expect(JSON.parse(text)).toEqual({
      apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1',
      kind: 'DiscoverVariablesResponse',
      ...response,
    });
    expect(lines.at(-1)?.problem).toContain(problem);
  });

  test('a request of another hook is rejected, and the handler is not called', async () => {
    let asked = 0;
    const one = create((_, { answer }) => {
      asked++;
      return answer.done();
    });
    const { response, result, cluster, lines } = await callHandler(one, { cluster: 7 } as never);
    expect([asked, result, cluster]).toEqual([0, 'invalid request', undefined]);
    expect(response).toEqual({
      status: 'Failure',
      retryAfterSeconds: 0,
      message:
        'the request is not one of hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=BeforeClusterCreate: cluster must be of type object, not number',
    });
    expect(lines).toEqual([
      {
        level: 40,
        hook: 'BeforeClusterCreate',
        handler: 'create',
        problem: 'cluster must be of type object, not number',
        msg: 'request refused',
      },
    ]);
  });
});

describe('messages', () => {
  const long = 'x'.repeat(8193);
  test.each<[string, Handler]>([
    ['of an answer', create((_, { answer }) => answer.done({ message: long }))],
    [
      'of a failure that is thrown',
      create(() => {
        throw new HandlerFailure(long);
      }),
    ],
  ])('%s are truncated', async (_, one) => {
    expect((await callHandler(one)).response.message).toBe(long.slice(0, 8192));
  });

  test('up to the maximum are unchanged', async () => {
    const made = create((_, { answer }) => answer.done({ message: long.slice(1) }));
    expect((await callHandler(made)).response).toEqual({
      status: 'Success',
      retryAfterSeconds: 0,
      message: long.slice(1),
    });
  });
});

describe('the log', () => {
  const names = { hook: 'BeforeClusterCreate', handler: 'create', cluster: 'default/example' };

  test('contains what the handler writes, with hook, handler and Cluster', async () => {
    const { lines } = await callHandler(
      create((_, { answer, log }) => {
        log.info('one');
        log.info('two');
        return answer.done();
      }),
    );
    expect(lines).toEqual([
      { level: 30, ...names, msg: 'one' },
      { level: 30, ...names, msg: 'two' },
    ]);
  });

  test('has no Cluster if the request names none', async () => {
    const { lines } = await callHandler(
      handler('DiscoverVariables', {
        name: 'variables',
        handle: (_, { answer, log, cluster }) => {
          log.info({ given: cluster ?? null }, 'one');
          return answer.done({ variables: [] });
        },
      }),
    );
    expect(lines).toEqual([{ level: 30, hook: 'DiscoverVariables', handler: 'variables', given: null, msg: 'one' }]);
  });

  test.each<[string, unknown, object]>([
    [
      'an error',
      new RangeError('far'),
      { error: 'RangeError', message: 'far', stack: expect.stringContaining('call.test.ts') },
    ],
    ['a string', 'far', { error: 'string', message: 'far' }],
  ])('contains what was thrown: %s', async (_, thrown, expected) => {
    const { lines } = await callHandler(
      create(() => {
        throw thrown;
      }),
    );
    expect(lines).toEqual([{ level: 50, ...names, msg: 'the handler failed', ...expected }]);
  });

  test.each<[string, Handler, string]>([
    [
      'no response',
      create(() => undefined as never),
      'the handler returned no answer: return the result of answer.done, answer.fail or answer.retry',
    ],
    [
      'a wrong type',
      create((_, { answer }) => answer.done({ message: 7 as never })),
      'message must be of type string, not number',
    ],
  ])('says what is wrong with an answer: %s', async (_, one, problem) => {
    const { lines } = await callHandler(one);
    expect(lines).toEqual([{ level: 50, ...names, problem, msg: 'the answer of the handler does not match its hook' }]);
  });
});

describe('the context', () => {
  test('has the settings of the request, if any', async () => {
    const seen: unknown[] = [];
    const one = create((_, { answer, settings }) => {
      seen.push(settings);
      return answer.done();
    });
    await callHandler(one, requestFor('BeforeClusterCreate', { settings: { a: 'b' } }));
    const { settings: _, ...without } = requestFor('BeforeClusterCreate');
    await callHandler(one, without);
    expect(seen).toEqual([{ a: 'b' }, {}]);
  });

  test('may be copied: the copy has everything', async () => {
    let copy: object = {};
    const one = create((_, context) => {
      copy = { ...context };
      return context.answer.done();
    });
    await callHandler(one);
    expect(copy).toMatchObject({ signal: expect.any(AbortSignal), log: { info: expect.any(Function) } });
    expect(Object.keys(copy).sort()).toEqual(
      ['answer', 'cluster', 'log', 'settings', 'signal', 'stopping', 'subject', 'waitUntil'].sort(),
    );
  });
});

test('the name of a Cluster is truncated', async () => {
  const one = handler('BeforeClusterCreate', { name: 'one', handle: (_, { answer }) => answer.done() });
  const metadata = { namespace: 'n'.repeat(300), name: 'x'.repeat(300), uid: 'u' };
  const { cluster } = await callHandler(one, requestFor('BeforeClusterCreate', { cluster: { metadata, spec: {} } }));
  expect(cluster).toBe(`${'n'.repeat(300)}/${'x'.repeat(205)}`);
});

test('a sample of what is not a hook is refused by name, also in plain JavaScript', () => {
  expect(() => requestFor('Nope' as 'BeforeClusterCreate')).toThrow(
    /^"Nope" is not a hook: pass one of BeforeClusterCreate, (\w+, )+GenerateUpgradePlan$/,
  );
  expect(() => requestFor('toString' as 'BeforeClusterCreate')).toThrow('"toString" is not a hook');
});

interface AnyAnswer {
  done(fields?: object | null): unknown;
  retry(seconds: number): unknown;
  fail(message: string): unknown;
}

test.each<[string, (answer: AnyAnswer) => unknown, string]>([
  [
    'a field of the whole response',
    ({ done }) => done({ status: 'Failure' }),
    'answer.done takes no status: leave it out, or answer with answer.fail or answer.retry',
  ],
  [
    'no time',
    ({ retry }) => retry(0),
    'answer.retry takes a whole number above 0, not 0: Cluster API takes 0 for done; use answer.done if it is',
  ],
  [
    'a part of a second',
    ({ retry }) => retry(1.5),
    'answer.retry takes a whole number above 0, not 1.5: Cluster API takes 0 for done; use answer.done if it is',
  ],
  ['no message', ({ fail }) => fail(''), 'answer.fail takes a message: users read it, and nothing else says why'],
])('the log says what an answer does not take, and where it is made: %s', async (_, make, message) => {
  const { result, lines } = await callHandler(create((_request, { answer }) => make(answer as never) as never));
  expect([result, lines.at(-1)?.message]).toEqual(['error', message]);
  expect(lines.at(-1)?.stack).toContain('call.test.ts');
});

test('a message that is cut is logged', async () => {
  const { response, lines } = await callHandler(create((_, { answer }) => answer.fail('x'.repeat(1_000_000))));
  expect(response.message).toHaveLength(8192);
  const msg = 'the message of the answer is cut to 8192 characters';
  expect(lines).toMatchObject([{ level: 40, characters: 1_000_000, msg }]);
});

test('an answer without fields may say so', async () => {
  const { response } = await callHandler(create((_, { answer }) => answer.done(null as never)));
  expect(response).toEqual({ status: 'Success', retryAfterSeconds: 0 });
});

test('a failure that the handler throws is a warning in the log, with its causes', async () => {
  const cause = new Error('connect ECONNREFUSED', { cause: 'no route' });
  const { response, result, lines } = await callHandler(
    create(() => {
      throw new HandlerFailure('the backup server cannot be reached', { cause });
    }),
  );
  expect([result, response.message]).toEqual(['failure', 'the backup server cannot be reached']);
  expect(lines).toMatchObject([
    {
      level: 40,
      handler: 'create',
      msg: 'the handler failed with a message for users',
      message: 'the backup server cannot be reached',
      cause: { message: 'connect ECONNREFUSED', cause: { message: 'no route' } },
    },
  ]);
});
