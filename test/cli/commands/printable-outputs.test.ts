import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { renderLine } from '../../../src/cli/framework/log.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import {
  caBundle,
  type ExtensionServer,
  extensionConfig,
  startExtension,
} from '../../runtimehooks/client/extension-server.ts';
import { runProgram } from './io.ts';

/** DEL, C1 (CSI in one character), an override of the direction, a line separator, and a command to a runner. */
const nasty = 'a\u007f\u009b31m\u202eb\u2028c##[group]d';
const raw = /[\u007f-\u009f\u202e\u2028]|##\[/;

let folder: string;
let server: ExtensionServer;
let config: string;
/** An extension with a nasty handler. */
let bad: string;
let manifest: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'printable-'));
  server = await startExtension(({ url }) => {
    const requestHook = { apiVersion: `${hooksGroup}/v1alpha1`, hook: 'BeforeClusterUpgrade' };
    const handlers = [{ name: url.startsWith('/bad') ? nasty : 'up', requestHook }];
    return url.includes('/discovery')
      ? ({ status: 'Success', handlers } as JsonObject)
      : { status: 'Failure', message: nasty };
  });
  const extension = extensionConfig('one', { url: server.url, caBundle });
  config = join(folder, 'one.json');
  writeFileSync(config, JSON.stringify(extension));
  bad = join(folder, 'bad.json');
  writeFileSync(bad, JSON.stringify(extensionConfig('bad', { url: `${server.url}/bad`, caBundle })));
  manifest = join(folder, 'nasty.json');
  const spec = { clientConfig: { url: `http://${nasty}` }, namespaceSelector: { matchLabels: { [nasty]: nasty } } };
  writeFileSync(
    manifest,
    JSON.stringify({ ...extension, metadata: { name: nasty, labels: { [nasty]: nasty } }, spec }),
  );
});
afterAll(async () => {
  await server.close();
  rmSync(folder, { recursive: true });
});

test.each<[string, () => string[]]>([
  ...['text', 'github', 'sarif', 'json', 'junit'].map((output): [string, () => string[]] => [
    `lint --output ${output}`,
    () => ['lint', manifest, '--output', output],
  ]),
  ...['text', 'json', 'yaml'].map((output): [string, () => string[]] => [
    `discover --output ${output}`,
    () => ['discover', '-f', bad, '--output', output],
  ]),
  ...['text', 'json'].map((output): [string, () => string[]] => [
    `call --output ${output}`,
    () => ['call', 'up.one', '-f', config, '--sample', '--output', output],
  ]),
  ...['text', 'json', 'html'].map((output): [string, () => string[]] => [
    `rehearse --output ${output}`,
    () => ['rehearse', '-f', config, '--upgrade-to', 'v1.33.0', '--output', output],
  ]),
  ...['text', 'json', 'junit'].map((output): [string, () => string[]] => [
    `conformance --output ${output}`,
    () => ['conformance', '-f', bad, '--output', output],
  ]),
])('%s prints what a server or a manifest says without control characters', async (_name, args) => {
  const { stdout, stderr } = await runProgram(args());
  // It is shown, in some form of escape.
  expect(`${stdout}${stderr}`).toMatch(/u009b|&#155;|\ufffd/);
  expect(stdout).not.toMatch(raw);
  expect(stderr).not.toMatch(raw);
});

test('a line of the log is without them as well', () => {
  const line = renderLine(
    JSON.stringify({ time: 't', level: 'info', msg: nasty, name: nasty, uid: 'x' }),
    new PassThrough(),
  );
  expect(line).toContain('uid=x');
  expect(line).not.toMatch(raw);
});
