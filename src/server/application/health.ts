import type { Express, Response } from 'express';
import { createApplication, noSuchPath } from './application.ts';
import type { Metrics } from './metrics.ts';
import { describeChecks, type Readiness } from './readiness.ts';
import type { Refuse } from './refusal.ts';

function send(response: Response, code: number, text: string, type = 'text/plain; charset=utf-8'): void {
  response.writeHead(code, { 'content-type': type, 'content-length': Buffer.byteLength(text) }).end(text);
}

/**
 * The health port, in plain HTTP: `/healthz` and `/livez` (200 while the process can respond at all), `/readyz` (200 or 503
 * with the reason; with `?verbose` one line per check) and `/metrics` (Prometheus' text format).
 */
export function createHealthApplication(
  readiness: () => Readiness,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
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
    const short = state.ready ? 'ok\n' : `${state.reason}\n`;
    send(response, state.ready ? 200 : 503, 'verbose' in query ? describeChecks(state, 'readyz') : short);
  });
  application.get('/metrics', async (_request, response) => {
    send(response, 200, await metrics.render(), metrics.contentType);
  });
  application.use(noSuchPath([], 'no such path; the paths are /healthz, /livez, /readyz and /metrics'), refuse);
  return application;
}
