import { readFileSync } from 'node:fs';
import { dirname } from 'node:path/posix';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Sandbox, startSandbox } from '../../../src/sandbox/index.ts';
import { registerAsCaptured, send, startAgreeingWebhook } from '../client.ts';

interface Exchange {
  method: string;
  path: string;
  accept: string;
  contentType: string | undefined;
  status: number;
  answeredType: string;
}

/** What kubectl 1.36 requested from a kube-apiserver, by command, and the responses: the log of `kubectl -v=8`. */
function read(): [string, Exchange[]][] {
  const text = readFileSync(new URL('../../support/fixtures/kubectl-wire.txt', import.meta.url), 'utf8');
  return text
    .split(/^== wire\//m)
    .slice(1)
    .map((section) => {
      const [title = '', ...lines] = section.trimEnd().split('\n');
      const exchanges: Exchange[] = [];
      let isAnswer = false;
      for (const line of lines) {
        const [, method, path] = /^([A-Z]+) (\/\S*)$/.exec(line) ?? [];
        const [, header = '', value = ''] = /^ {4}([\w-]+): (.*)$/.exec(line) ?? [];
        const last = exchanges.at(-1) as Exchange;
        if (method !== undefined && path !== undefined) {
          exchanges.push({ method, path, accept: '', contentType: undefined, status: 0, answeredType: '' });
          isAnswer = false;
        } else if (line.startsWith('Response Status: ')) {
          last.status = Number(line.split(' ')[2]);
          isAnswer = true;
        } else if (header === 'Accept') {
          last.accept = value;
        } else if (header === 'Content-Type' && isAnswer) {
          last.answeredType = value;
        } else if (header === 'Content-Type') {
          last.contentType = value;
        }
      }
      return [title.replace(/^\d+-|\.log$/g, ''), exchanges];
    });
}

const group = 'apis/runtime.cluster.x-k8s.io/v1beta2';
const name = 'my-amazing-extensions';
const object = {
  apiVersion: 'runtime.cluster.x-k8s.io/v1beta2',
  kind: 'ExtensionConfig',
  metadata: { name },
  spec: { clientConfig: { url: 'https://example.com' } },
};

/** Bodies that match, since the log has none. */
const bodies: Record<string, object> = {
  'POST application/json': object,
  'PATCH application/merge-patch+json': { spec: { settings: { a: 'b' } } },
  'PATCH application/json-patch+json': [{ op: 'add', path: '/spec/settings', value: {} }],
  'PATCH application/apply-patch+yaml': object,
  'DELETE application/json': { propagationPolicy: 'Background' },
};

let sandbox: Sandbox;
let webhook: Awaited<ReturnType<typeof startAgreeingWebhook>>;
beforeAll(async () => {
  webhook = await startAgreeingWebhook(() => undefined);
  sandbox = await startSandbox();
  await registerAsCaptured(sandbox, webhook);
});
afterAll(async () => {
  await sandbox.stop();
  await webhook.stop();
});

/**
 * Replaces the parts of a path that differ from server to server: the hash of a document, the version that a watch
 * starts from.
 */
async function here(path: string): Promise<string> {
  if (path.includes('hash=')) {
    const { paths } = (await send(sandbox, 'GET', '/openapi/v3')).json;
    const { serverRelativeURL = '' } = (paths as Record<string, { serverRelativeURL?: string }>)[group] ?? {};
    return path.replace(/^.*hash=[0-9A-F]+/, serverRelativeURL);
  }
  if (!path.includes('watch=true')) {
    return path;
  }
  const list = await send(sandbox, 'GET', `/${group}/extensionconfigs?limit=1`);
  const { resourceVersion } = list.json.metadata as JsonObject;
  return path
    .replace('resourceVersion=423', `resourceVersion=${String(resourceVersion)}`)
    .replace(/&timeoutSeconds=\d+/, '')
    .replace('watch=true', 'watch=true&timeoutSeconds=1');
}

const protobuf = 'application/vnd.kubernetes.protobuf';

const own = `/${group}/extensionconfigs/${name}`;

describe.each(read())('kubectl %s', (_command, exchanges) => {
  test.each(exchanges)('$method $path', async ({ method, path, accept, contentType, status, answeredType }) => {
    // The object existed when the log was written, except where it was not found, or was created.
    const isMissing = status === 404 || status === 201;
    const prepared = isMissing
      ? await send(sandbox, 'DELETE', own)
      : await send(sandbox, 'POST', dirname(own), { body: object });
    expect(isMissing ? [200, 404] : [201, 409]).toContain(prepared.status);
    const headers = { accept, ...(contentType === undefined ? {} : { 'content-type': contentType }) };
    const body = bodies[`${method} ${contentType}`];
    const answer = await send(sandbox, method, await here(path), { headers, ...(body === undefined ? {} : { body }) });
    // The sandbox rejects this, with an explanation.
    const isApply = contentType === 'application/apply-patch+yaml';
    expect(answer.status, answer.text).toBe(isApply ? 415 : status);
    // It does not respond in protobuf either, and calls JSON by its own type.
    const isJson = answeredType === protobuf || path.startsWith('/openapi/v3?');
    expect(answer.headers['content-type']).toBe(isJson ? 'application/json' : answeredType);
  });
});
