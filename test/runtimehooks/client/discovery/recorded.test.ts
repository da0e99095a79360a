import { readFileSync } from 'node:fs';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { JsonObject } from '../../../../src/kubernetes/index.ts';
import { createClient } from '../../../../src/runtimehooks/client/index.ts';
import { caBundle, extensionConfig, SharedServers } from '../extension-server.ts';

/** An answer to Discovery, and the condition `Discovered` that Cluster API's manager wrote for it. */
interface Recorded {
  case: string;
  extension: string;
  answer: {
    handlers?: JsonObject[];
    code?: number;
    body?: string;
    headers?: Record<string, string>;
    delaySeconds?: number;
  };
  status: 'True' | 'False';
  message: string;
}

const recorded = readFileSync(new URL('../../../support/fixtures/runtime-sdk/discovery.jsonl', import.meta.url), 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line) as Recorded);

const servers = new SharedServers();
afterAll(() => servers.close());

test.each(recorded)('$case: the condition is that of Cluster API', async ({
  extension: name,
  answer,
  status,
  message,
}) => {
  const server = await servers.start((_received, response) => {
    if (answer.delaySeconds !== undefined) {
      return undefined;
    }
    if (answer.handlers !== undefined) {
      return { status: 'Success', handlers: answer.handlers };
    }
    response.writeHead(answer.code ?? 200, answer.headers).end(answer.body);
    return undefined;
  });
  onTestFinished(() => server.close());
  const client = createClient();
  onTestFinished(() => client.close());
  // Discovery would wait for ten seconds.
  const signal = answer.delaySeconds === undefined ? undefined : AbortSignal.timeout(100);
  const result = await client.discover(extensionConfig(name, { url: `${server.url}/c28`, caBundle }), { signal });
  expect(result.ok ? '' : `Error in discovery: ${result.error.message}`).toBe(
    message.replaceAll('https://localhost:19750', server.url),
  );
  expect(result.ok).toBe(status === 'True');
});
