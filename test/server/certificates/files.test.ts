import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { watchClientCa } from '../../../src/server/certificates/client-ca.ts';
import { type FileState, watchFiles } from '../../../src/server/certificates/file-watch.ts';
import { type CertificateEvent, ClientCaError, fileCertificates, fixedCertificate } from '../../../src/server/index.ts';
import { localhost, makeCertificate, testCa } from '../../base/x509/certificates.ts';
import { collectingLog, pairOf, until } from '../running.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('watched files', () => {
  /** Watches `a` and `b`, and records what is reported. */
  async function watching(pollMs?: number, names = ['a', 'b']) {
    const seen: (readonly FileState[])[] = [];
    const stop = await watchFiles(
      names.map((name) => join(folder, name)),
      (states) => seen.push(states),
      pollMs,
    );
    onTestFinished(() => stop());
    return { seen, stop };
  }
  const texts = (states: readonly FileState[] | undefined) =>
    states?.map((state) => ('text' in state ? state.text : state.code));

  test('are reported at the start, whether or not they exist', async () => {
    await write('a', 'ä');
    const { seen } = await watching();
    expect(seen).toEqual([[{ text: 'ä' }, { code: 'ENOENT', problem: 'does not exist' }]]);
  });

  test('are reported only when they change', async () => {
    await write('a', '1');
    const { seen } = await watching(5);
    await pause(60);
    await write('a', '1');
    await write('other', 'x');
    await pause(120);
    expect(seen).toHaveLength(1);
    await write('a', '2');
    await until(() => seen.length === 2, 'the change is reported');
    expect(texts(seen[1])).toEqual(['2', 'ENOENT']);
  });

  test('are not reported halfway through a change', async () => {
    await write('a', '1');
    await write('b', '1');
    const { seen } = await watching(5);
    for (let turn = 2; turn <= 8; turn++) {
      await write('a', String(turn));
      await pause(5);
      await write('b', String(turn));
    }
    await until(() => texts(seen.at(-1))?.[0] === '8', 'the last change is reported');
    expect(seen.map(texts).filter((one) => one?.[0] !== one?.[1])).toEqual([]);
  });

  test('in a folder that is created, removed and created again are found by the next poll', async () => {
    const { seen } = await watching(10, ['sub/a']);
    expect(texts(seen[0])).toEqual(['ENOENT']);
    for (const text of ['1', '2']) {
      await mkdir(join(folder, 'sub'));
      await write('sub/a', text);
      await until(() => texts(seen.at(-1))?.[0] === text, 'the file is found');
      await rm(join(folder, 'sub'), { recursive: true });
      await until(() => texts(seen.at(-1))?.[0] === 'ENOENT', 'its loss is noticed');
    }
  });

  test('in a folder that is replaced by another are found, too', async () => {
    await mkdir(join(folder, 'sub'));
    await write('sub/a', '1');
    const { seen } = await watching(10, ['sub/a']);
    await mkdir(join(folder, 'new'));
    await write('new/a', '2');
    await rename(join(folder, 'sub'), join(folder, 'old'));
    await rename(join(folder, 'new'), join(folder, 'sub'));
    await until(() => seen.length === 2, 'the new folder is read');
    expect(seen.map(texts)).toEqual([['1'], ['2']]);
  });

  test('are read twice a second by default, and do not keep the process alive', async () => {
    // Those of tests before may end in between.
    const timers = () => process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length;
    const before = timers();
    const { seen } = await watching();
    expect(timers()).toBeLessThanOrEqual(before);
    await write('a', '1');
    const startedMs = performance.now();
    await until(() => seen.length === 2, 'the change is reported');
    expect(performance.now() - startedMs).toBeLessThan(5_000);
  });

  test('are not reported after the watch has ended during a change', async () => {
    await write('a', '1');
    const { seen, stop } = await watching(5);
    await write('a', '2');
    await pause(10);
    stop();
    await pause(150);
    expect(seen).toHaveLength(1);
  });
});

describe('certificates in a folder', () => {
  async function source(pollMs?: number) {
    const events: CertificateEvent[] = [];
    const certificates = fileCertificates(folder, pollMs);
    await certificates.start((event) => events.push(event));
    onTestFinished(() => certificates.stop());
    return { events, certificates };
  }
  const pair = pairOf(localhost);

  test('are a pair, with the trust bundle if there is one', async () => {
    await write('tls.crt', localhost.cert);
    await write('tls.key', localhost.key);
    expect((await source()).events).toEqual([{ kind: 'pair', pair }]);
    await write('ca.crt', testCa.cert);
    expect((await source()).events).toEqual([{ kind: 'pair', pair, bundle: testCa.cert }]);
  });

  test('are absent if one of the files is missing', async () => {
    await write('tls.key', localhost.key);
    const remedy = 'put tls.crt and tls.key there (in a pod, into the Secret that is mounted there)';
    const missing = (name: string) => [{ kind: 'absent', reason: `${join(folder, name)} does not exist: ${remedy}` }];
    expect((await source()).events).toEqual(missing('tls.crt'));
    await rm(join(folder, 'tls.key'));
    await write('tls.crt', localhost.cert);
    expect((await source()).events).toEqual(missing('tls.key'));
  });

  test('are absent without their folder, which is named, also if it disappears and comes back without them', async () => {
    const remedy = 'correct its name, or create it with tls.crt and tls.key (in a pod, mount the Secret there)';
    const missing = { kind: 'absent', reason: `the folder ${folder} does not exist: ${remedy}` };
    await rm(folder, { recursive: true });
    const { events } = await source(10);
    expect(events).toEqual([missing]);
    await mkdir(folder);
    await until(() => events.length === 2, 'the folder is noticed');
    expect(events[1]).toMatchObject({ kind: 'absent', reason: expect.stringMatching(/tls\.crt does not exist: put/) });
    await rm(folder, { recursive: true });
    await until(() => events.length === 3, 'its loss is noticed');
    expect(events[2]).toEqual(missing);
  });

  test('that cannot be read or do not match are broken', async () => {
    await write('tls.crt', localhost.cert);
    await mkdir(join(folder, 'tls.key'));
    expect((await source()).events).toEqual([
      { kind: 'broken', reason: `${join(folder, 'tls.key')} is a folder, not a regular file` },
    ]);
    await rm(join(folder, 'tls.key'), { recursive: true });
    await write('tls.key', testCa.key);
    expect((await source()).events).toEqual([
      { kind: 'broken', reason: `tls.crt and tls.key in ${folder}: the key does not belong to the certificate` },
    ]);
  });

  test('are not reported after the end, which may come before the start', async () => {
    await write('tls.crt', localhost.cert);
    await write('tls.key', localhost.key);
    fileCertificates(folder).stop();
    const { events, certificates } = await source(5);
    certificates.stop();
    await write('tls.key', 'broken');
    await pause(120);
    expect(events).toHaveLength(1);
  });

  test('can be a fixed pair', async () => {
    const events: CertificateEvent[] = [];
    const fixed = fixedCertificate(pair);
    await fixed.start((event) => events.push(event));
    fixed.stop();
    expect(events).toEqual([{ kind: 'pair', pair }]);
  });
});

describe('the client CA', () => {
  const otherCa = makeCertificate({ commonName: 'other CA', isCa: true });
  /** Watches `ca.crt`, and records the results. */
  async function watching() {
    const { log, lines } = collectingLog();
    const changes: object[] = [];
    const stop = await watchClientCa(join(folder, 'ca.crt'), (change) => changes.push(change), log, 5);
    onTestFinished(() => stop());
    return { changes, lines };
  }

  test('is passed on, and each new usable one; an unusable one is reported instead', async () => {
    await write('ca.crt', testCa.cert);
    const { changes, lines } = await watching();
    expect([changes, lines]).toEqual([[{ pem: testCa.cert }], []]);
    const problem = `${join(folder, 'ca.crt')} is not PEM`;
    await write('ca.crt', 'garbage');
    await until(() => lines.length === 1, 'the problem is logged');
    await write('ca.crt', otherCa.cert);
    await until(() => lines.length === 2, 'the new one is logged');
    expect(changes).toEqual([{ pem: testCa.cert }, { problem }, { pem: otherCa.cert }]);
    expect(lines).toEqual([
      { level: 50, reason: problem, msg: 'the new client CA is unusable; the previous one stays in use' },
      { level: 30, msg: 'client CA reloaded' },
    ]);
  });

  test.each([
    ['missing', undefined, 'does not exist'],
    ['garbage', 'garbage', 'is not PEM'],
  ])('that is %s at the start is an error', async (_, text, problem) => {
    if (text !== undefined) {
      await write('ca.crt', text);
    }
    await expect(watching()).rejects.toThrow(new ClientCaError(`${join(folder, 'ca.crt')} ${problem}`));
  });
});
