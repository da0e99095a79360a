import { request as httpsRequest } from 'node:https';
import { aroundEach, describe, expect, test } from 'vitest';
import { UsageError } from '../../../src/base/index.ts';
import { readBehaviours } from '../../../src/extension/sample/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import type { GenerateUpgradePlanRequest } from '../../../src/runtimehooks/index.ts';
import { clusterApiHooks, upgradePlanProblem } from '../../../src/runtimehooks/index.ts';
import { decodeResponse } from '../../../src/runtimehooks/messages/index.ts';
import { testCa } from '../../base/x509/certificates.ts';
import { type RecordedCall, recordedCalls } from '../../runtimehooks/messages/recorded.ts';
import { ending } from '../../support/ends.ts';
import { startSample } from './running.ts';

aroundEach(ending);

/** Sends a call with the headers that Cluster API sent, and no others. */
function replay(
  port: number,
  { method, url, headers, body }: Omit<RecordedCall, 'file' | 'answer'>,
  patience = 20_000,
) {
  const text = JSON.stringify(body);
  return new Promise<{ code: number; text: string }>((resolve, reject) => {
    const request = httpsRequest(
      {
        ...{ host: '127.0.0.1', servername: 'localhost', port, path: url, method, ca: testCa.cert, agent: false },
        headers: { ...headers, 'content-length': String(Buffer.byteLength(text)) },
        signal: AbortSignal.timeout(patience),
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () => resolve({ code: response.statusCode ?? 0, text: Buffer.concat(chunks).toString() }));
      },
    );
    request.on('error', reject);
    request.end(text);
  });
}

const hookOf = (url: string) => {
  const name = url.split('?')[0]?.split('/')[3];
  const hook = clusterApiHooks.find((one) => one.name.toLowerCase() === name);
  expect(hook, url).toBeDefined();
  return hook!;
};

test('the recorded calls have no content type, and a timeout', () => {
  expect(recordedCalls).toHaveLength(24);
  for (const { url, headers } of recordedCalls) {
    expect(url).toMatch(/\?timeout=\d+s$/);
    expect(Object.keys(headers)).not.toContain('content-type');
  }
});

describe('Cluster API', () => {
  test('accepts the answer to every recorded call', async () => {
    const { port, lines } = await startSample();
    lines.length = 0;
    for (const recorded of recordedCalls) {
      const { code, text } = await replay(port, recorded);
      expect(code, recorded.file).toBe(200);
      const hook = hookOf(recorded.url);
      const decoded = decodeResponse(hook, JSON.parse(text) as JsonObject);
      expect(decoded, recorded.file).toMatchObject({ response: { status: 'Success' } });
      const { response } = decoded as { response: JsonObject };
      expect('retryAfterSeconds' in response, recorded.file).toBe(hook.isBlocking);
      if (hook.name === 'GenerateUpgradePlan') {
        expect(upgradePlanProblem(recorded.body as unknown as GenerateUpgradePlanRequest, response)).toBeUndefined();
      }
      if (hook.name === 'Discovery') {
        const served = (response.handlers as { requestHook: { hook: string } }[]).map(
          ({ requestHook }) => requestHook.hook,
        );
        expect(new Set(served)).toEqual(
          new Set(clusterApiHooks.map(({ name }) => name).filter((name) => name !== 'Discovery')),
        );
      }
    }
    expect(lines.map(({ msg }) => msg)).toEqual(recordedCalls.map(() => 'call answered'));
  });

  test('templates get a label if a Cluster asks for it', async () => {
    const { port } = await startSample();
    const recorded = recordedCalls.find(({ file }) => file === 'GeneratePatches.json')!;
    const variables = [...(recorded.body.variables as JsonObject[]), { name: 'sampleLabel', value: 'x' }];
    const { text } = await replay(port, { ...recorded, body: { ...recorded.body, variables } });
    const items = JSON.parse(text).items as { uid: string; patch: string }[];
    expect(items).toHaveLength((recorded.body.items as unknown[]).length);
    expect(Buffer.from(items[0]?.patch ?? '', 'base64').toString()).toContain('"sample-extension":"x"');
  });
});

const call = (name: string): RecordedCall => recordedCalls.find(({ file }) => file === `${name}.json`)!;

describe('behaviours', () => {
  test('block N times for each Cluster, then answer done', async () => {
    const { port } = await startSample(
      'handlers: {before-cluster-upgrade: {block: {times: 2, retryAfterSeconds: 7, message: backups run}}}',
    );
    const ask = async (body = call('BeforeClusterUpgrade').body) => {
      const { text } = await replay(port, { ...call('BeforeClusterUpgrade'), body });
      const { retryAfterSeconds, message } = JSON.parse(text);
      return [retryAfterSeconds, message];
    };
    expect([await ask(), await ask(), await ask()]).toEqual([
      [7, 'backups run'],
      [7, 'backups run'],
      [0, undefined],
    ]);
    const { body } = call('BeforeClusterUpgrade');
    const other = { ...body, cluster: { ...(body.cluster as JsonObject), metadata: { name: 'b', namespace: 'b' } } };
    expect(await ask(other)).toEqual([7, 'backups run']);
  });

  test('fail, and delay', async () => {
    const { port } = await startSample(`
handlers:
  before-cluster-create: { fail: { message: no quota, times: 1 } }
  validate-topology: { delaySeconds: 0.3 }
`);
    const first = JSON.parse((await replay(port, call('BeforeClusterCreate'))).text);
    const second = JSON.parse((await replay(port, call('BeforeClusterCreate'))).text);
    expect([first.status, first.message, second.status]).toEqual(['Failure', 'no quota', 'Success']);
    const started = performance.now();
    expect((await replay(port, call('ValidateTopology'))).code).toBe(200);
    expect(performance.now() - started).toBeGreaterThan(250);
  });

  test('hang: no response before the client gives up', async () => {
    const { port } = await startSample('handlers: {before-cluster-create: {hang: true}}');
    await expect(replay(port, call('BeforeClusterCreate'), 500)).rejects.toThrow(/abort/i);
  });

  test.each([
    ['', 'it must have one field, handlers'],
    ['handlers: [', 'line 1:'],
    ['handlers: {nobody: {hang: true}}', 'handlers.nobody is not known; it must be one of before-cluster-create'],
    ['handlers: {generate-patches: {block: {}}}', 'handlers.generate-patches.block is not known'],
    [
      'handlers: {before-cluster-create: {hang: 1}}',
      'handlers.before-cluster-create.hang in body must be of type boolean: "integer"',
    ],
    ['handlers: {before-cluster-create: {fail: {}}}', 'handlers.before-cluster-create.fail.message: Required value'],
    [
      'handlers: {before-cluster-create: {delaySeconds: -1}}',
      'Invalid value: -1: handlers.before-cluster-create.delaySeconds in body should be greater than or equal to 0',
    ],
    [
      'handlers: {before-cluster-create: 5}',
      'handlers.before-cluster-create in body must be of type object: "integer"',
    ],
  ])('an invalid file: %s', (file, problem) => {
    expect(() => readBehaviours(file)).toThrow(UsageError);
    expect(() => readBehaviours(file)).toThrow(problem);
  });
});
