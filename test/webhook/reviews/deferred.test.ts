import { once } from 'node:events';
import { type ClientRequest, createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { AdmissionRequest } from '../../../src/kubernetes/index.ts';
import { Http1Response } from '../../../src/server/connections/tracked.ts';
import { createMetrics } from '../../../src/server/health/metrics.ts';
import { knownFeatureGates } from '../../../src/webhook/index.ts';
import { createApplication } from '../../../src/webhook/reviews/application.ts';
import type { Reply } from '../../../src/webhook/reviews/decide.ts';
import { createReviewMetrics, metricsPrefix } from '../../../src/webhook/reviews/metrics.ts';
import type { RouteContext } from '../../../src/webhook/reviews/routes.ts';
import type { SideThreadTask } from '../../../src/webhook/reviews/side-thread.ts';
import { collectingLog, mutate, until, validate } from '../../server/running.ts';

const reply = (text: string, more: Partial<Reply> = {}): Reply => ({
  code: 200,
  text: JSON.stringify(text),
  note: { kind: 'review', uid: text, verdict: 'allowed', deniedBy: [], warnedBy: [] },
  ...more,
});

/** A server whose decisions a test makes, and what it reports to the connections. */
async function serving(context: Partial<RouteContext>) {
  const { log, lines } = collectingLog();
  const held: string[] = [];
  const metrics = createMetrics(
    { version: '1', prefix: metricsPrefix, port: 'webhook' },
    { inFlight: () => 0, inFlightBytes: () => 0, connections: () => 0 },
    false,
  );
  const server = createServer(
    { ServerResponse: Http1Response },
    createApplication({
      webhooks: ['mutate', 'validate'],
      decide: () => reply('at once'),
      metrics,
      reviews: createReviewMetrics(metrics.registry, knownFeatureGates),
      log,
      maxBodyBytes: 1000,
      connections: {
        holdBody: () => true,
        holdDecision: () => void held.push('decision'),
        holdResponse: () => void held.push('answer'),
        leave: () => {},
      },
      monotonicNow: () => 0,
      isDraining: () => false,
      ...context,
    }),
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  function post(path: string, body: string): { client: ClientRequest; answer: Promise<[number | undefined, unknown]> } {
    const headers = { 'content-type': 'application/json', 'content-length': body.length };
    const client = httpRequest({ port, path, method: 'POST', headers, agent: false });
    const answer = once(client, 'response').then(async ([response]: IncomingMessage[]) => {
      const chunks: string[] = [];
      for await (const chunk of response as IncomingMessage) {
        chunks.push(String(chunk));
      }
      return [response?.statusCode, JSON.parse(chunks.join(''))] as [number | undefined, unknown];
    });
    answer.catch(() => {});
    client.on('error', () => {});
    client.end(body);
    return { client, answer };
  }
  return { post, held, lines };
}

describe('a deferred decision', () => {
  test('is sent when it arrives, and its client does not count as slow meanwhile', async () => {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const { post, held, lines } = await serving({ decide: () => promise });
    const { answer } = post(validate, '{}');
    await until(() => held.length === 1, 'the body has been decided on');
    expect([held, lines]).toEqual([['decision'], []]);
    resolve(reply('later'));
    expect(await answer).toEqual([200, 'later']);
    expect(held).toEqual(['decision', 'answer']);
    expect(lines).toMatchObject([{ uid: 'later' }]);
  });

  test('is neither sent nor logged if the client has disconnected', async () => {
    const { promise, resolve } = Promise.withResolvers<Reply>();
    const closed = Promise.withResolvers<void>();
    const { post, held, lines } = await serving({
      decide: () => promise,
      connections: {
        holdBody: () => true,
        holdDecision(response) {
          held.push('decision');
          response.once('close', () => setImmediate(closed.resolve));
        },
        holdResponse: () => void held.push('answer'),
        leave: () => {},
      },
    });
    const { client } = post(validate, '{}');
    await until(() => held.length === 1, 'the body has been decided on');
    client.destroy();
    await closed.promise;
    resolve(reply('later'));
    await promise;
    await new Promise((done) => setImmediate(done));
    expect([held, lines]).toEqual([['decision'], []]);
  });
});

describe('a large body', () => {
  /** A side thread whose replies the test provides. */
  function thread(overBytes: number) {
    const tasks: { task: SideThreadTask; gone: AbortSignal; resolve: (reply: Reply) => void }[] = [];
    return {
      tasks,
      sideThread: {
        overBytes,
        decide(task: SideThreadTask, gone: AbortSignal) {
          const { promise, resolve } = Promise.withResolvers<Reply>();
          tasks.push({ task, gone, resolve });
          return promise;
        },
        close: async () => {},
      },
    };
  }
  const request = { uid: 'u', name: 'x' } as AdmissionRequest;

  test('is decided in the thread if it exceeds the threshold by one byte', async () => {
    const { tasks, sideThread } = thread(4);
    const { post, held, lines } = await serving({ sideThread });
    expect(await post(validate, '1234').answer).toEqual([200, 'at once']);
    expect([tasks.length, held]).toEqual([0, ['answer']]);
    const { answer } = post(mutate, '12345');
    await until(() => tasks.length === 1, 'the thread is asked');
    expect(tasks[0]?.task).toEqual({ webhook: 'mutate', body: Buffer.from('12345') });
    expect(held).toEqual(['answer', 'decision']);
    tasks[0]?.resolve(reply('by the thread'));
    expect(await answer).toEqual([200, 'by the thread']);
    expect(held).toEqual(['answer', 'decision', 'answer']);
    expect(lines).toMatchObject([
      { webhook: 'validate', uid: 'at once' },
      { webhook: 'mutate', uid: 'by the thread' },
    ]);
  });

  test('of a client that disconnects is abandoned, and gets no response', async () => {
    const { tasks, sideThread } = thread(4);
    const { post, held, lines } = await serving({ sideThread });
    const { client } = post(validate, '12345');
    await until(() => tasks.length === 1, 'the thread is asked');
    client.destroy();
    await until(() => tasks[0]?.gone.aborted === true, 'the thread is told');
    tasks[0]?.resolve(reply('by the thread'));
    await new Promise((done) => setImmediate(done));
    expect([held, lines]).toEqual([['decision'], []]);
  });

  test.each<[string, typeof validate | typeof mutate, Partial<Reply>, boolean, string]>([
    ['a validation that takes facts is judged here', validate, { handedBack: request }, true, 'judged validate x'],
    ['a validation that takes none is not', validate, {}, true, 'by the thread'],
    ['a mutation never is', mutate, { handedBack: request }, true, 'by the thread'],
    ['without facts, the response of the thread counts', validate, { handedBack: request }, false, 'by the thread'],
  ])('%s', async (_, path, more, hasJudge, expected) => {
    const { sideThread } = thread(4);
    const { post } = await serving({
      sideThread: { ...sideThread, decide: async () => reply('by the thread', more) },
      judge: hasJudge ? (webhook, { name }) => reply(`judged ${webhook} ${name}`) : undefined,
    });
    expect(await post(path, '12345').answer).toEqual([200, expected]);
  });
});
