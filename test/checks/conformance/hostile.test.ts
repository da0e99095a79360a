import { expect, onTestFinished, test } from 'vitest';
import { plain } from '../../../src/base/index.ts';
import { reportAsText } from '../../../src/checks/conformance/index.ts';
import type { JsonObject } from '../../../src/kubernetes/index.ts';
import { type Answering, startExtension } from '../../runtimehooks/client/extension-server.ts';
import { limitWork, sized } from '../../support/work.ts';
import { complaints, offered, tryExtension } from './trying.ts';

async function serve(answer: Answering): Promise<number> {
  const server = await startExtension(answer);
  onTestFinished(() => server.close());
  return server.port;
}

const discovered = (timeoutSeconds: number): JsonObject => ({
  status: 'Success',
  handlers: ['ValidateTopology', 'GeneratePatches', 'DiscoverVariables'].map((hook) =>
    offered(hook, { timeoutSeconds }),
  ),
});

/** Answers discovery, and does something else with calls, which get a timeout of this many seconds. */
const withHandlers =
  (answer: Answering, timeoutSeconds = 1): Answering =>
  (received, response, request) =>
    received.url.includes('/discovery') ? discovered(timeoutSeconds) : answer(received, response, request);

/** Of spaces, through which the end of the JSON is searched byte by byte, or within a string. */
const endless: Answering = ({ url }, response) => {
  response.writeHead(200);
  const isDiscovery = url.includes('/discovery');
  const text = Buffer.alloc(64 * 1024, isDiscovery ? ' ' : 'x');
  if (!isDiscovery) {
    response.write('{"status":"');
  }
  const more = () => {
    while (!response.destroyed && response.write(text)) {
      // Until the caller disconnects.
    }
  };
  response.on('drain', more);
  more();
  return undefined;
};

const drip: Answering = (_received, response) => {
  response.writeHead(200);
  const timer = setInterval(() => response.write(' '), 20);
  response.on('close', () => clearInterval(timer));
  return undefined;
};

const hangUp: Answering = (_received, response) => {
  response.destroy();
  return undefined;
};

const limitMs = 250;

const hostile: readonly [string, Answering][] = [
  ['an endless discovery', endless],
  ['a discovery that hangs', () => undefined],
  ['endless answers', withHandlers(endless)],
  ['answers that drip', withHandlers(drip)],
  ['answers that hang', withHandlers(() => undefined)],
  ['answers that hang up', withHandlers(hangUp)],
  [
    'thousands of handlers',
    ({ url }) =>
      url.includes('/discovery')
        ? {
            status: 'Success',
            handlers: Array.from({ length: 2000 }, (_, index) => ({ name: `H${index}`.repeat(20), requestHook: {} })),
          }
        : undefined,
  ],
];

// Concurrent, since they take long.
test.concurrent.for(hostile)('%s ends in time, with a report that can be read', async ([, answer], {
  expect,
  onTestFinished,
}) => {
  const server = await startExtension(answer);
  onTestFinished(() => server.close());
  const started = performance.now();
  const conduct = await tryExtension(server.port, { timeLimitMs: limitMs });
  expect(performance.now() - started).toBeLessThan(limitMs + 60_000);
  expect(conduct.verdict).toBe('failed');
  for (const text of [reportAsText(conduct, plain), JSON.stringify(conduct)]) {
    expect(text.length).toBeLessThan(100_000);
  }
});

test('text of a server is shown without terminal control characters or XML markup', async () => {
  const message = 'abcdefgh\u001b[2J\u202e]]>\u0000<b>&"';
  const port = await serve(withHandlers(() => ({ status: 'Failure', message })));
  const conduct = await tryExtension(port, { checks: ['answers-calls'] });
  const found = JSON.stringify(conduct);
  expect(found).toContain('answers Failure');
  for (const text of [reportAsText(conduct, plain)]) {
    expect(text).not.toContain('\u001b');
    expect(text).not.toContain('\u0000');
    expect(text).not.toContain('\u202e');
  }
});

test('nothing is reported as passed that was not checked', async () => {
  const server = await startExtension(() => ({}));
  await server.close();
  const { checks, verdict } = await tryExtension(server.port);
  expect(verdict).toBe('failed');
  expect(checks.filter(({ status }) => status === 'passed').map(({ id }) => id)).toEqual([]);
});

test('deeply nested answers are handled', async () => {
  const port = await serve(
    withHandlers((_received, response) => {
      response.end(`{"status":"Success","variables":${'['.repeat(50_000)}${']'.repeat(50_000)}}`);
      return undefined;
    }),
  );
  const { verdict, checks } = await tryExtension(port, { checks: ['answers-calls', 'repeatable', 'variables-valid'] });
  expect([verdict, checks.length]).toEqual(['failed', 3]);
});

test('at the time limit, remaining checks are skipped, and reported', async () => {
  const port = await serve(withHandlers(() => undefined));
  const { checks, verdict } = await tryExtension(port, { timeLimitMs: 500 });
  expect(verdict).toBe('failed');
  expect(checks.at(-1)).toMatchObject({ status: 'skipped', skipReason: 'the time limit of five minutes has passed' });
  expect(checks.filter(({ status }) => status === 'failed').map(({ problems }) => problems)).toEqual([
    [{ severity: 'error', message: 'the time limit of five minutes has passed' }],
  ]);
});

test('schemas full of patterns that are expensive to compile take little time', async () => {
  const properties = Object.fromEntries(
    Array.from({ length: sized(4_000) }, (_, index) => [
      `p${index}`,
      { type: 'string', pattern: `a{999}b{999}c{999}d${index}` },
    ]),
  );
  const variables = [{ name: 'a', required: true, schema: { openAPIV3Schema: { type: 'object', properties } } }];
  const port = await serve(withHandlers(() => ({ status: 'Success', variables: variables as never }), 30));
  // Compiled, they would take minutes.
  using _work = limitWork(15_000);
  const { checks, calls } = await tryExtension(port, { checks: ['variables-valid'] });
  expect(checks[0]?.status).toBe('warning');
  expect(checks[0]?.problems[0]?.message).toBe('the schemas take too much work to check all of them');
  // Discovery, and each handler: the definitions are not requested, and checked, once for values and once for problems.
  expect(calls).toBe(4);
});

test('patches that keep enlarging their object are stopped', async () => {
  const patch = Buffer.from(
    JSON.stringify([
      { op: 'add', path: '/spec/a', value: 'x'.repeat(400_000) },
      ...Array.from({ length: 7 }, (_, index) => ({ op: 'copy', from: '/spec/a', path: `/spec/b${index}` })),
    ]),
  ).toString('base64');
  const small = Buffer.from(JSON.stringify([{ op: 'copy', from: '/spec', path: '/spec/c' }])).toString('base64');
  const port = await serve(
    withHandlers(({ body }) => {
      const uid = (JSON.parse(body) as { items?: { uid: string }[] }).items?.[0]?.uid ?? '';
      const item = (text: string) => ({ uid, patchType: 'JSONPatch', patch: text });
      return { status: 'Success', items: [item(patch), ...Array.from({ length: 500 }, () => item(small))] };
    }),
  );
  const { checks } = await tryExtension(port, { checks: ['patches-apply'] });
  expect(checks[0]).toMatchObject({ status: 'failed' });
  expect(checks[0]?.problems[0]?.message).toMatch(/exceeding the limit|more than 3 MiB/);
});

test('aborting the signal ends the run at once', async () => {
  const stop = new AbortController();
  const running = tryExtension(await serve(withHandlers(() => undefined)), { signal: stop.signal });
  setTimeout(() => stop.abort(new Error('stopped')), 100);
  await expect(running).rejects.toThrow('stopped');
});

test('reports that nothing listens', async () => {
  // Another server may get the port of one that has stopped.
  const conduct = await tryExtension(1);
  expect(complaints(conduct)).toEqual({ 'discovery-valid': 'failed' });
  const discovery = conduct.checks.find(({ id }) => id === 'discovery-valid');
  expect(discovery?.problems[0]?.message).toContain('connection refused');
  expect(discovery?.remedy).toContain('needs --resolve, unless its ExtensionConfig is read from the cluster');
});
