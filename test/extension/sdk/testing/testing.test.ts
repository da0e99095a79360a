import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { HandlerFailure, handler } from '../../../../src/extension/index.ts';
import {
  assertDeterministic,
  assertIdempotent,
  assertIsolated,
  callHandler,
  requestFor,
  requestFromFile,
} from '../../../../src/extension/sdk/testing/index.ts';

type Handle = Parameters<typeof handler<'BeforeClusterCreate'>>[1]['handle'];
const create = (handle: Handle) => handler('BeforeClusterCreate', { name: 'create', handle });

test('a request has every field of its hook, and the given ones', () => {
  const request = requestFor('BeforeClusterCreate', { settings: { a: 'b' } });
  expect(request).toMatchObject({
    kind: 'BeforeClusterCreateRequest',
    settings: { a: 'b' },
    cluster: { metadata: { name: 'example' } },
  });
});

test('a request can be in a file', () => {
  const folder = mkdtempSync(join(tmpdir(), 'requests-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'request.json');
  const request = requestFor('GeneratePatches');
  writeFileSync(file, JSON.stringify({ kind: 'GeneratePatchesRequest', ...request }));
  expect(requestFromFile('GeneratePatches', file)).toEqual({ kind: 'GeneratePatchesRequest', ...request });
  expect(() => requestFromFile('ValidateTopology', file)).toThrow(
    `${file} has a GeneratePatchesRequest, where a ValidateTopologyRequest is needed`,
  );
  writeFileSync(file, '{}');
  expect(() => requestFromFile('ValidateTopology', file)).toThrow(`${file} has no kind, where`);
  writeFileSync(file, '{');
  expect(() => requestFromFile('ValidateTopology', file)).toThrow(`${file} has no JSON: `);
});

describe('a call', () => {
  test('receives a copy of the request, and its signal', async () => {
    const request = requestFor('BeforeClusterCreate');
    const before = structuredClone(request);
    const ending = new AbortController();
    ending.abort();
    let isAborted: boolean | undefined;
    const changing = create((given, { answer, signal }) => {
      (given as { cluster: object }).cluster = {};
      isAborted = signal.aborted;
      return answer.done();
    });
    await callHandler(changing, request, { signal: ending.signal });
    expect([request, isAborted]).toEqual([before, true]);
    await callHandler(changing);
    expect(isAborted).toBe(false);
  });

  test('returns what was logged, at all levels', async () => {
    const { lines } = await callHandler(
      create((_, { answer, log }) => {
        log.trace('one');
        log.error('two');
        return answer.done();
      }),
    );
    expect(lines.map(({ level, msg }) => [level, msg])).toEqual([
      [10, 'one'],
      [50, 'two'],
    ]);
  });
});

describe('assertDeterministic', () => {
  test.each([
    [undefined, 3],
    [5, 5],
    [2, 2],
  ])('calls %j: %i times', async (times, expected) => {
    let calls = 0;
    const counting = create((_, { answer }) => {
      calls++;
      return answer.fail('the same');
    });
    expect(await assertDeterministic(counting, undefined, { times, status: 'Failure' })).toMatchObject({
      result: 'failure',
      response: { message: 'the same' },
    });
    expect(calls).toBe(expected);
  });

  test.each([1, Number.NaN])('%j calls, of which none would be compared, are refused', async (times) => {
    const fine = create((_, { answer }) => answer.done());
    await expect(assertDeterministic(fine, undefined, { times })).rejects.toThrow(
      new RangeError(`times: ${times} is not a whole number of at least 2`),
    );
  });

  test('reports the call that differs, and shows both answers', async () => {
    let calls = 0;
    const changing = create((_, { answer }) => answer.done({ message: calls++ < 2 ? 'early' : 'late' }));
    const checked = assertDeterministic(changing);
    await expect(checked).rejects.toThrow('create: the same request has different answers');
    await expect(checked).rejects.toMatchObject({
      actual: { message: 'late' },
      expected: { message: 'early' },
    });
  });

  test.each<[string, Handle, string | RegExp]>([
    [
      'throws',
      () => {
        throw new Error('no such host');
      },
      /^create: error: handler create failed: see the log of the extension\nError: no such host\n {4}at .*testing\.test\.ts/,
    ],
    ['returns no response', () => undefined as never, 'create: invalid answer: handler create gave an invalid answer'],
  ])('rejects a handler that %s', async (_, handle, message) => {
    await expect(assertDeterministic(create(handle))).rejects.toThrow(message);
  });

  test('rejects an invalid request', async () => {
    const fine = create((_, { answer }) => answer.done());
    await expect(assertDeterministic(fine, { cluster: 7 } as never)).rejects.toThrow(
      /^create: invalid request: the request is not one of .*must be of type object, not number \{"level":40,/,
    );
  });
});

describe('a handler that does not work', () => {
  test.each<[string, Handle, object | undefined]>([
    [
      'error',
      () => {
        throw new Error('x');
      },
      undefined,
    ],
    ['invalid answer', () => 'no answer' as never, undefined],
    ['invalid request', (_, { answer }) => answer.done(), { cluster: 7 }],
  ])('is not what a test expects that expects a Failure: %s', async (result, handle, request) => {
    const checked = assertDeterministic(create(handle), request as never, { status: 'Failure' });
    await expect(checked).rejects.toThrow(`create: ${result}: `);
    await expect(checked).rejects.not.toThrow('pass a request that it accepts');
  });

  const failing = create((_, { answer }) => answer.fail('the backup server cannot be reached'));

  test.each([assertDeterministic, assertIdempotent])('%o: a Failure is not fine', async (assert) => {
    await expect(assert(failing)).rejects.toThrow(
      "create: failure: the backup server cannot be reached; pass a request that it accepts, or expect this ({ status: 'Failure' })",
    );
    expect(await assert(failing, undefined, { status: 'Failure' })).toMatchObject({ result: 'failure' });
    const fine = create((_, { answer }) => answer.done());
    await expect(assert(fine, undefined, { status: 'Failure' })).rejects.toThrow('create: success');
  });

  test('a handler has as much time as Cluster API gives it', async () => {
    let reason: unknown;
    const hanging = handler('BeforeClusterCreate', {
      name: 'create',
      timeoutSeconds: 1,
      handle: (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => {
            reason = signal.reason;
          });
        }),
    });
    await expect(callHandler(hanging)).rejects.toThrow('create: no answer within 1s, after which Cluster API gives up');
    expect(reason).toMatchObject({ name: 'TimeoutError' });
  });
});

describe('answers that change', () => {
  type Patches = Parameters<typeof handler<'GeneratePatches'>>[1]['handle'];
  const patcher = (handle: Patches) => handler('GeneratePatches', { name: 'patch', handle });
  const [item] = requestFor('GeneratePatches').items;
  const request = requestFor('GeneratePatches', {
    variables: [
      { name: 'a', value: 'first' },
      { name: 'b', value: 'second' },
    ],
    items: ['one', 'two', 'three'].map((uid) => ({ ...item!, uid })),
  });
  const patchOf = (value: unknown) =>
    Buffer.from(JSON.stringify([{ op: 'add', path: '/spec/template/spec/a', value }])).toString('base64');

  test.each<[string, (uid: string, index: number, first: string) => unknown]>([
    ['with the date', () => new Date().toISOString().slice(0, 10)],
    ['with the time', () => Date.now()],
    ['with the date as text', () => Date().slice(0, 15)],
    ['with the uid of an item', (uid) => uid],
    ['with the place of an item', (_, index) => index],
    ['with the order of variables', (_uid, _index, first) => first],
  ])('%s are found', async (_, change) => {
    const changing = patcher(({ items, variables = [] }, { answer }) =>
      answer.done({
        items: items.map(({ uid }, index) => ({
          uid,
          patchType: 'JSONPatch' as const,
          patch: patchOf(change(uid, index, String(variables[0]?.name))),
        })),
      }),
    );
    await expect(assertDeterministic(changing, request)).rejects.toThrow('the same request has different answers');
  });

  test('the difference is that of the templates, readable', async () => {
    const changing = patcher(({ items }, { answer }) =>
      answer.done({
        items: items.map(({ uid }) => ({ uid, patchType: 'JSONPatch' as const, patch: patchOf(new Date().getDay()) })),
      }),
    );
    await expect(assertDeterministic(changing, request)).rejects.toThrow(
      /{"op":"replace","path":"\/templates\/0\/spec\/template\/spec\/a","value":\d}/,
    );
  });

  test('patches that do not apply are found', async () => {
    const wrong = patcher(({ items }, { answer }) => {
      const patch = Buffer.from(JSON.stringify([{ op: 'remove', path: '/spec/none' }])).toString('base64');
      return answer.done({ items: items.map(({ uid }) => ({ uid, patchType: 'JSONPatch' as const, patch })) });
    });
    await expect(assertDeterministic(wrong, request)).rejects.toThrow('failed to apply patch');
    await expect(assertIdempotent(wrong, request)).rejects.toThrow('failed to apply patch');
  });

  test('upgrade plans that Cluster API refuses are found', async () => {
    const plan = handler('GenerateUpgradePlan', {
      name: 'plan',
      handle: (_, { answer }) => answer.done({ controlPlaneUpgrades: [{ version: 'v1.2.0' }] }),
    });
    await expect(assertDeterministic(plan)).rejects.toThrow(/^plan: invalid ControlPlane upgrade plan/);
  });

  test('answers of more than 3 MiB are found', async () => {
    const long = patcher(({ items }, { answer }) =>
      answer.done({
        items: items.map(({ uid }) => ({
          uid,
          patchType: 'JSONPatch' as const,
          patch: patchOf('x'.repeat(1024 * 1024)),
        })),
      }),
    );
    await expect(assertDeterministic(long, request)).rejects.toThrow('patch: the answer has more than 3 MiB');
  });

  test("templates that the providers' CustomResourceDefinitions refuse are found", async () => {
    const schema = (spec: object) => ({
      type: 'object',
      properties: { spec: { type: 'object', properties: { template: { type: 'object', properties: { spec } } } } },
    });
    const { apiVersion, kind } = item!.object as { apiVersion: string; kind: string };
    const [group, name] = apiVersion.split('/');
    const properties = { region: { type: 'string' }, a: { type: 'integer' } };
    const versions = [{ name, schema: { openAPIV3Schema: schema({ type: 'object', properties }) } }];
    const crds = [{ kind: 'CustomResourceDefinition', spec: { group, names: { kind }, versions } }];
    const setting = (field: string, value: unknown) =>
      patcher(({ items }, { answer }) => {
        const operations = [{ op: 'add', path: `/spec/template/spec/${field}`, value }];
        const patch = Buffer.from(JSON.stringify(operations)).toString('base64');
        return answer.done({ items: items.map(({ uid }) => ({ uid, patchType: 'JSONPatch' as const, patch })) });
      });
    const check = (field: string, value: unknown) => assertDeterministic(setting(field, value), request, { crds });
    await expect(check('a', '7')).rejects.toThrow(/spec\.template\.spec\.a.*must be of type integer/);
    await expect(check('a', null)).rejects.toThrow(/spec\.template\.spec\.a.*must be of type integer: "null"/);
    await expect(check('b', 7)).rejects.toThrow(`spec.template.spec.b: is not a field of a ${kind}`);
    expect(await check('a', 7)).toMatchObject({ result: 'success' });
  });

  test("a value of the first Cluster that is kept for all is found, and so is one that the second one's changes", async () => {
    const other = requestFor('GeneratePatches', { ...request, variables: [{ name: 'a', value: 'other' }] });
    const patching = (valueFor: (value: unknown) => unknown) =>
      patcher(({ items, variables = [] }, { answer }) =>
        answer.done({
          items: items.map(({ uid }) => ({
            uid,
            patchType: 'JSONPatch' as const,
            patch: patchOf(valueFor(variables[0]?.value)),
          })),
        }),
      );
    let first: unknown;
    const caching = patching((value) => {
      first ??= value;
      return first;
    });
    await expect(assertIsolated(caching, [request, other])).rejects.toThrow(
      'patch: the second request has the answer of the first',
    );
    const seen = new Set();
    const counting = patching((value) => {
      seen.add(value);
      return `${value} ${seen.size}`;
    });
    await expect(assertIsolated(counting, [request, other])).rejects.toThrow(
      /^patch: after a request of another Cluster, the answer differs:\n {2}{"op":"replace"/,
    );
    await assertIsolated(
      patching((value) => value),
      [request, other],
    );
  });

  test('work that ends is no change, but an end that is taken back is', async () => {
    const answersIn = (...answers: ('wait' | 'done')[]) =>
      create((_, { answer }) => (answers.shift() === 'wait' ? answer.retry(5, 'wait') : answer.done()));
    expect(await assertDeterministic(answersIn('wait', 'wait', 'done'))).toMatchObject({ result: 'blocking' });
    await expect(assertDeterministic(answersIn('done', 'wait'))).rejects.toThrow('different answers');
  });

  test('patches of items in another order are the same', async () => {
    const steady = patcher(({ items }, { answer }) =>
      answer.done({ items: items.map(({ uid }) => ({ uid, patchType: 'JSONPatch' as const, patch: patchOf(1) })) }),
    );
    expect(await assertDeterministic(steady, request)).toMatchObject({ result: 'success' });
    expect(await assertIdempotent(steady, request)).toMatchObject({ result: 'success' });
  });

  test('several at once have their dates one after the other, and then the real one', async () => {
    const real = Date;
    const dates: number[] = [];
    const slow = create(async (_, { answer }) => {
      const before = Date.now();
      await new Promise((resolve) => setTimeout(resolve, 5));
      expect(Date.now() - before).toBeLessThan(60_000);
      dates.push(before - real.now());
      return answer.done();
    });
    await Promise.all([assertDeterministic(slow), assertDeterministic(slow, undefined, { times: 5 })]);
    expect(Math.max(...dates)).toBeGreaterThan(24 * 3600 * 1000);
    expect(Date).toBe(real);
  });

  test('a handler that waits for the date to go on ends, and dates are dates', async () => {
    const waiting = create((_, { answer }) => {
      const [start, then] = [Date.now(), new Date()];
      while (Date.now() === start || new Date() <= then) {}
      expect([then instanceof Date, new Date(0).getTime(), Date.UTC(1970)]).toEqual([true, 0, 0]);
      return answer.done();
    });
    expect(await assertDeterministic(waiting)).toMatchObject({ result: 'success' });
  });
});

describe('assertIdempotent', () => {
  test('calls until the handler is done, lets the work proceed in between, and calls once more', async () => {
    const waits: number[] = [];
    let calls = 0;
    const done = create((_, { answer }) =>
      ++calls <= 2 ? answer.retry(calls, 'wait') : answer.done({ message: 'done' }),
    );
    const outcome = await assertIdempotent(done, undefined, { between: (seconds) => waits.push(seconds) });
    expect([outcome.result, waits, calls]).toEqual(['success', [1, 2], 4]);
  });

  test('accepts a failure as the end if that is expected', async () => {
    const failing = create(() => {
      throw new HandlerFailure('no');
    });
    expect(await assertIdempotent(failing, undefined, { status: 'Failure' })).toMatchObject({ result: 'failure' });
  });

  test('detects a different answer after the end', async () => {
    let calls = 0;
    const changing = create((_, { answer }) => answer.done({ message: `${calls++}` }));
    await expect(assertIdempotent(changing)).rejects.toThrow('create: called again, it answers differently');
  });

  test('detects work that is done again, though the answer is the same', async () => {
    let backups = 0;
    const again = create((_, { answer }) => {
      backups++;
      return answer.done();
    });
    expect(await assertIdempotent(again)).toMatchObject({ result: 'success' });
    await expect(assertIdempotent(again, undefined, { effects: () => backups })).rejects.toThrow(
      'create: called again, it does its work again',
    );
    const once = create((_, { answer }) => {
      backups ||= 1;
      return answer.done();
    });
    expect(await assertIdempotent(once, undefined, { effects: () => ({ backups }) })).toMatchObject({
      result: 'success',
    });
  });

  test('gives up after twenty calls', async () => {
    let calls = 0;
    const blocking = create((_, { answer }) => {
      calls++;
      return answer.retry(1, 'wait');
    });
    await expect(assertIdempotent(blocking)).rejects.toThrow(new Error('create: it still blocks after 20 calls'));
    expect(calls).toBe(20);
  });

  test('rejects a handler that fails before', async () => {
    let calls = 0;
    const breaking = create((_, { answer }) => {
      if (calls++ > 0) {
        throw new Error('x');
      }
      return answer.retry(1, 'wait');
    });
    await expect(assertIdempotent(breaking)).rejects.toThrow(/^create: error: /);
  });
});

test('a change of a template in the request is refused, since it would have no effect', async () => {
  const changing = handler('GeneratePatches', {
    name: 'patches',
    handle: ({ items }, { answer }) => {
      (items[0]?.object as { spec: object }).spec = {};
      return answer.done({ items: [] });
    },
  });
  const { result, lines } = await callHandler(changing);
  expect([result, lines.at(-1)?.message]).toEqual(['error', expect.stringMatching(/read only property 'spec'/)]);
});
