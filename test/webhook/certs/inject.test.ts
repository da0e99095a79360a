import { describe, expect, test } from 'vitest';
import { issueCa, type Parsed } from '../../../src/base/x509/index.ts';
import type { TargetAccess, TargetReading } from '../../../src/webhook/certs/index.ts';
import { bundleIn, Conflict, injectTargets } from '../../../src/webhook/certs/index.ts';
import { day } from '../../base/x509/keys.ts';

const wanted: Parsed<string> = { state: 'usable', value: 'new' };
const reading = (id: string, ...bundles: string[]): TargetReading => ({
  id,
  state: 'present',
  bundles,
  skipped: [`something of ${id}`],
});
const from = (source: string, target: TargetReading): TargetReading => ({ ...target, source });

/** Targets in memory: an injected bundle is returned by the next read, unless `onInject` throws. */
function world(
  targets: TargetReading[],
  onInject: (id: string, attempt: number) => string | undefined = () => undefined,
) {
  const injected: string[] = [];
  const sleeps: number[] = [];
  const asked: string[] = [];
  let reads = 0;
  const access: TargetAccess = {
    async read() {
      reads++;
      return targets;
    },
    async inject(target, bundle) {
      injected.push(`${target.id} ${bundle}`);
      const refusal = onInject(target.id, injected.length);
      if (refusal === undefined) {
        target.bundles.fill(bundle);
      }
      return refusal;
    },
  };
  return {
    injected,
    sleeps,
    asked,
    reads: () => reads,
    run: (bundleOf: (source: string) => Parsed<string> = () => wanted) =>
      injectTargets(
        access,
        async (source) => {
          asked.push(source);
          return bundleOf(source);
        },
        { sleep: async (ms) => void sleeps.push(ms) },
      ),
  };
}

describe('injectTargets', () => {
  test('reads the bundle of a source once for each time that the targets are read, and after them', async () => {
    const { run, asked, injected } = world([
      from('one', reading('K/a', 'old')),
      from('two', reading('K/b', 'old')),
      from('one', reading('K/c', 'old')),
    ]);
    await run((source) => ({ state: 'usable', value: `of ${source}` }));
    expect(injected).toEqual(['K/a of one', 'K/b of two', 'K/c of one']);
    expect(asked).toEqual(['one', 'two', 'one', 'two']);
  });

  test('writes what differs, reads it back, and reports what it did with each target', async () => {
    const { run, injected, sleeps, reads } = world([
      reading('K/old', 'old'),
      reading('K/same', 'new'),
      reading('K/half', 'new', 'old'),
      reading('K/none'),
      { id: 'K/missing', state: 'missing', problem: 'does not exist', bundles: [], skipped: [] },
      { id: 'K/failed', state: 'failed', problem: 'forbidden', bundles: [], skipped: [] },
      { id: 'K/mute', state: 'failed', bundles: [], skipped: [] },
    ]);
    expect(await run()).toEqual([
      { id: 'K/same', result: 'in sync', skipped: ['something of K/same'] },
      { id: 'K/none', result: 'left alone', skipped: ['something of K/none'] },
      { id: 'K/missing', result: 'missing', reason: 'does not exist', skipped: [] },
      { id: 'K/failed', result: 'failed', reason: 'forbidden', skipped: [] },
      { id: 'K/mute', result: 'failed', skipped: [] },
      { id: 'K/old', result: 'written', skipped: ['something of K/old'] },
      { id: 'K/half', result: 'written', skipped: ['something of K/half'] },
    ]);
    expect(injected).toEqual(['K/old new', 'K/half new']);
    expect([reads(), sleeps]).toEqual([2, [0]]);
  });

  test('requests the bundle of a target only if there is something to inject', async () => {
    const { run, asked } = world([reading('K/none'), { id: 'K/missing', state: 'missing', bundles: [], skipped: [] }]);
    await run();
    expect(asked).toEqual([]);
  });

  test('returns at once if there is nothing to do', async () => {
    const { run, sleeps, reads } = world([]);
    expect(await run()).toEqual([]);
    expect([reads(), sleeps]).toEqual([1, []]);
  });

  test.each<[Parsed<string>, string]>([
    [{ state: 'absent' }, 'there is no trust bundle'],
    [{ state: 'broken', problem: 'Secret a/b has no ca.crt' }, 'Secret a/b has no ca.crt'],
  ])('a target without a bundle fails alone: %j', async (bundle, reason) => {
    const { run, injected, asked } = world([from('none', reading('K/a', 'old')), from('one', reading('K/b', 'old'))]);
    expect(await run((source) => (source === 'none' ? bundle : wanted))).toEqual([
      { id: 'K/a', result: 'failed', reason, skipped: ['something of K/a'] },
      { id: 'K/b', result: 'written', skipped: ['something of K/b'] },
    ]);
    expect(injected).toEqual(['K/b new']);
    // It is not retried with the others.
    expect(asked).toEqual(['none', 'one', 'one']);
  });

  test('a target that cannot be written fails alone, and is tried once', async () => {
    const { run, injected } = world([reading('K/a', 'old'), reading('K/b', 'old')], (id) =>
      id === 'K/a' ? 'forbidden: patch' : undefined,
    );
    expect(await run()).toEqual([
      { id: 'K/a', result: 'failed', reason: 'forbidden: patch', skipped: ['something of K/a'] },
      { id: 'K/b', result: 'written', skipped: ['something of K/b'] },
    ]);
    expect(injected).toEqual(['K/a new', 'K/b new']);
  });

  test('retries after a conflict, with growing waits', async () => {
    const { run, injected, sleeps } = world([reading('K/a', 'old')], () => {
      throw new Conflict('changed');
    });
    await expect(run()).rejects.toThrow('another client keeps changing the targets');
    expect(injected).toHaveLength(10);
    expect(sleeps).toEqual([0, 100, 200, 400, 800, 1600, 2000, 2000, 2000, 2000]);
  });

  test('after a conflict, only the target that another client changed is tried again, with the bundle of then', async () => {
    const { run, injected, asked, reads } = world([reading('K/a', 'old'), reading('K/b', 'old')], (_id, attempt) => {
      if (attempt < 9) {
        throw new Conflict('changed');
      }
    });
    expect((await run()).map(({ id, result }) => `${id} ${result}`)).toEqual(['K/a written', 'K/b written']);
    expect([injected.length, reads(), asked.length]).toEqual([10, 6, 6]);
  });

  test('a bundle that another client overwrites at once is written again, and not reported before it stays', async () => {
    const target = reading('K/a', 'old');
    const { run, injected } = world([target], (_id, attempt) => {
      if (attempt < 3) {
        queueMicrotask(() => target.bundles.fill('theirs'));
      }
    });
    expect(await run()).toEqual([{ id: 'K/a', result: 'written', skipped: ['something of K/a'] }]);
    expect(target.bundles).toEqual(['new']);
    expect(injected).toHaveLength(3);
  });

  test('a target that others overwrite every time is no success', async () => {
    const target = reading('K/a', 'old');
    const { run } = world([target], () => queueMicrotask(() => target.bundles.fill('theirs')) as undefined);
    await expect(run()).rejects.toThrow('another client keeps changing the targets');
  });

  test('stops at any other error', async () => {
    const { run } = world([reading('K/a', 'old')], () => {
      throw new TypeError('a bug');
    });
    await expect(run()).rejects.toThrow(TypeError);
  });
});

describe('the trust bundle in a Secret', async () => {
  const { certificate } = issueCa(new Date('2026-01-01'), day);

  test.each<[string, Record<string, string> | undefined, Parsed<string>]>([
    ['no Secret', undefined, { state: 'broken', problem: 'Secret a/b does not exist' }],
    ['no ca.crt', { 'tls.crt': certificate.pem }, { state: 'broken', problem: 'Secret a/b has no ca.crt' }],
    ['an empty ca.crt', { 'ca.crt': '' }, { state: 'broken', problem: 'Secret a/b has no ca.crt' }],
    ['certificates', { 'ca.crt': certificate.pem.repeat(2) }, { state: 'usable', value: certificate.pem.repeat(2) }],
    [
      'a key beside them, which is not injected',
      { 'ca.crt': `-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n${certificate.pem}` },
      { state: 'usable', value: certificate.pem },
    ],
  ])('%s', (_name, data, expected) => {
    expect(bundleIn(data, 'Secret a/b')).toEqual(expected);
  });

  test('says when the text is not PEM', () => {
    expect(bundleIn({ 'ca.crt': 'x' }, 'Secret a/b')).toMatchObject({
      state: 'broken',
      problem: expect.stringMatching(/^ca\.crt of Secret a\/b is not PEM/),
    });
  });
});
