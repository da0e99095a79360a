import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from 'vitest';
import { type CertificateEvent, fileCertificates, fixedCertificate } from '../../../src/server/index.ts';
import { localhost, testCa } from '../../base/x509/certificates.ts';
import { pairOf, until } from '../running.ts';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'files-'));
});
afterEach(() => rm(folder, { recursive: true, force: true }));

const write = (name: string, text: string) => writeFile(join(folder, name), text);
const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('certificates in a folder', () => {
  async function source(pollMs?: number) {
    const events: CertificateEvent[] = [];
    const certificates = fileCertificates(folder, pollMs);
    const stop = await certificates((event) => events.push(event));
    onTestFinished(stop);
    return { events, stop };
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
    const remedy = 'put tls.crt and tls.key there (in a pod, mount the Secret)';
    const missing = (name: string) => [{ kind: 'absent', reason: `${join(folder, name)} does not exist: ${remedy}` }];
    expect((await source()).events).toEqual(missing('tls.crt'));
    await rm(join(folder, 'tls.key'));
    await write('tls.crt', localhost.cert);
    expect((await source()).events).toEqual(missing('tls.key'));
  });

  test('are absent without their folder, which is named, also if it disappears and comes back without them', async () => {
    const remedy = 'correct its name, or create it with tls.crt and tls.key (in a pod, mount the Secret)';
    const missing = { kind: 'absent', reason: `the folder ${folder} does not exist: ${remedy}` };
    await rm(folder, { recursive: true });
    const { events } = await source(10);
    expect(events).toEqual([missing]);
    await mkdir(folder);
    await write('tls.key', '');
    await write('tls.crt', '');
    await until(() => events.length === 2, 'the files are noticed');
    expect(events[1]).toMatchObject({ kind: 'broken' });
    await rm(folder, { recursive: true });
    await until(() => events.length === 3, 'their loss is noticed');
    expect(events[2]).toEqual(missing);
  });

  test('are reported only when they change, also if another folder comes in place of theirs', async () => {
    await write('tls.crt', localhost.cert);
    await write('tls.key', localhost.key);
    const { events } = await source(5);
    await write('tls.crt', localhost.cert);
    await write('other', 'x');
    await pause(100);
    expect(events).toHaveLength(1);
    const [old, made] = [`${folder}-old`, `${folder}-new`];
    onTestFinished(() => rm(old, { recursive: true }));
    await mkdir(made);
    for (const [name, text] of [
      ['tls.crt', localhost.cert],
      ['tls.key', localhost.key],
      ['ca.crt', testCa.cert],
    ] as const) {
      await writeFile(join(made, name), text);
    }
    await rename(folder, old);
    await rename(made, folder);
    await until(() => events.some((event) => 'bundle' in event), 'the new folder is read');
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

  test('are not reported after the end', async () => {
    await write('tls.crt', localhost.cert);
    await write('tls.key', localhost.key);
    const { events, stop } = await source(5);
    stop();
    await write('tls.key', 'broken');
    await pause(120);
    expect(events).toHaveLength(1);
  });

  test('can be a fixed pair', async () => {
    const events: CertificateEvent[] = [];
    const stop = await fixedCertificate(pair)((event) => events.push(event));
    stop();
    expect(events).toEqual([{ kind: 'pair', pair }]);
  });
});
