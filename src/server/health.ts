import { createServer } from 'node:http';
import type { Express, Response } from 'express';
import type { Registry } from 'prom-client';
import type { Log } from '../base/index.ts';
import type { Readiness } from './application/readiness.ts';
import { createApplication, createRefuse, noSuchPath, type Refuse } from './application/refusal.ts';
import { type ConnectionEvents, Connections } from './connections/connections.ts';
import { healthLimits, nodeLimits } from './limits.ts';
import { type Address, listen } from './listen.ts';

function send(response: Response, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

/** The checks, one per line, as Kubernetes' own servers show them: `[+]name ok`, `[-]name failed: why`. */
function describeChecks({ checks, reason }: Readiness): string {
  const lines = checks.map(({ name, problem, essential }) => {
    if (problem === undefined) {
      return `[+]${name} ok`;
    }
    return essential ? `[-]${name} failed: ${problem}` : `[!]${name} degraded: ${problem}`;
  });
  return [...lines, `readyz check ${reason === undefined ? 'passed' : 'failed'}`, ''].join('\n');
}

/** `/healthz` and `/livez`, `/readyz` (with `?verbose` one line per check) and `/metrics` (Prometheus' text format). */
function createHealthApplication(
  readiness: () => Readiness,
  metrics: Pick<Registry, 'contentType' | 'metrics'>,
  refuse: Refuse,
): Express {
  const application = createApplication();
  application.use((_request, response, next) => {
    // The kubelet opens a connection for each probe, and a scrape can afford one: no idle connection stays open.
    response.set({ 'cache-control': 'no-store', connection: 'close' });
    next();
  });
  application.get(['/healthz', '/livez'], (_request, response) => send(response, 200, 'ok\n'));
  application.get('/readyz', ({ query }, response) => {
    const state = readiness();
    const text = 'verbose' in query ? describeChecks(state) : `${state.reason ?? 'ok'}\n`;
    send(response, state.reason === undefined ? 200 : 503, text);
  });
  application.get('/metrics', async (_request, response) => {
    send(response, 200, await metrics.metrics(), metrics.contentType);
  });
  application.use(noSuchPath([], 'no such path; the paths are /healthz, /livez, /readyz and /metrics'), refuse);
  return application;
}

interface HealthServerOptions {
  address: Address;
  readiness(): Readiness;
  metrics: Pick<Registry, 'contentType' | 'metrics'>;
  events?: ConnectionEvents;
  log: Log;
}

export interface HealthServer {
  port: number;
  stop(): Promise<void>;
}

const noEvents: ConnectionEvents = { evicted() {}, dropped() {}, responseDropped() {}, refused() {} };

/** Opens a plain HTTP port for /healthz, /livez, /readyz and /metrics. @throws {ListenError} */
export async function startHealthServer(options: HealthServerOptions): Promise<HealthServer> {
  const { readiness, metrics, events = noEvents, log } = options;
  const server = createServer(nodeLimits(healthLimits));
  const refuse = createRefuse(log);
  const application = createHealthApplication(readiness, metrics, refuse);
  const connections = new Connections(server, { limits: healthLimits, events, application, refuse });
  const port = await listen(server, 'health', options.address);
  return { port, stop: async () => void (await connections.stop({ graceMs: 0, timeoutMs: 0 })) };
}
