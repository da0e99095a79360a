import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { stringify } from 'yaml';
import { extensionFlags, readExtensions } from '../../../src/cli/commands/extensions.ts';
import { defaultsOf } from '../../../src/cli/framework/flags.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';

/** What commands read of an object in a file. */
async function read(object: JsonObject) {
  const folder = mkdtempSync(join(tmpdir(), 'extensions-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const file = join(folder, 'config.yaml');
  writeFileSync(file, stringify(object));
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() });
  const [stdout, stderr] = [nowhere, nowhere].map((stream) => Object.assign(stream, { isTTY: false }));
  const { configs, originals } = await readExtensions({ ...defaultsOf(extensionFlags), filename: [file] }, [], {
    stdin: Readable.from([]),
    stdout: stdout!,
    stderr: stderr!,
    env: {},
    signal: new AbortController().signal,
  });
  expect(originals.get(configs[0]!)).toEqual(object);
  return configs[0];
}

test.each([
  'v1alpha1',
  'v1beta2',
])('objects of %s in files have all defaults that the webhook sets', async (version) => {
  const service = { namespace: 'a', name: 'b' };
  const requestHook = { apiVersion: 'hooks.runtime.cluster.x-k8s.io/v1alpha1', hook: 'GeneratePatches' };
  const config = await read({
    apiVersion: `runtime.cluster.x-k8s.io/${version}`,
    kind: 'ExtensionConfig',
    metadata: { name: 'one' },
    spec: { clientConfig: { service } },
    status: { handlers: [{ name: 'a.one', requestHook }] },
  });
  expect(config?.spec).toEqual({ clientConfig: { service: { ...service, port: 443 } }, namespaceSelector: {} });
  expect(config?.status?.handlers).toEqual([{ name: 'a.one', requestHook, timeoutSeconds: 10, failurePolicy: 'Fail' }]);
});
