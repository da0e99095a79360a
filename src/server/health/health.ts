import express, { type ErrorRequestHandler, type Express } from 'express';
import type { Log } from '../../base/index.ts';
import { refusal } from '../../kubernetes/index.ts';
import type { Metrics } from './metrics.ts';
import { describeChecks, type Readiness } from './readiness.ts';

/**
 * The health port's application, in plain HTTP: `/healthz` and `/livez` (200 while the process can respond at all),
 * `/readyz` (200 or 503 with the reason; with `?verbose` one line per check) and `/metrics` (Prometheus' text format).
 */
export function createHealthApplication(
  readiness: () => Readiness,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
  log: Log,
): Express {
  const application = express()
    .disable('x-powered-by')
    .disable('etag')
    .enable('strict routing')
    .enable('case sensitive routing');
  application.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    // The kubelet opens a connection for each probe, and a scrape can afford one: no idle connection stays open.
    response.set('connection', 'close');
    next();
  });
  application.get(['/healthz', '/livez'], (_request, response) => {
    response.type('text/plain').send('ok\n');
  });
  application.get('/readyz', (request, response) => {
    const state = readiness();
    const short = state.ready ? 'ok\n' : `${state.reason}\n`;
    response
      .status(state.ready ? 200 : 503)
      .type('text/plain')
      .send('verbose' in request.query ? describeChecks(state, 'readyz') : short);
  });
  application.get('/metrics', async (_request, response) => {
    const text = await metrics.render();
    response.set('content-type', metrics.contentType).send(text);
  });
  application.use((_request, response) => {
    response.status(404).json(refusal(404, 'no such path; the paths are /healthz, /livez, /readyz and /metrics'));
  });
  // Requests have no body and the paths no parameters, so that nothing a client sends is an error for Express.
  const onError: ErrorRequestHandler = (error, _request, response, _next) => {
    log.error({ err: error }, 'the health port failed to respond');
    response.status(500).json(refusal(500, 'internal error; see the log'));
  };
  application.use(onError);
  return application;
}
