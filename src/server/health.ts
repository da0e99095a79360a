import type { ErrorRequestHandler, Express } from 'express';
import { refusal } from './answer.ts';
import { plainExpress } from './application.ts';
import type { Metrics } from './metrics.ts';
import type { Readiness } from './readiness.ts';

/**
 * What answers on the health port, in plain HTTP: `/healthz` (200 while the process can answer at all), `/readyz` (200
 * or 503 with the reason) and `/metrics` (Prometheus' text format).
 */
export function createHealthApplication(
  readiness: () => Readiness,
  metrics: Pick<Metrics, 'contentType' | 'render'>,
): Express {
  const application = plainExpress();
  // Probes and scrapes have no body and need no connection of their own.
  application.use((_request, response, next) => {
    response.set('cache-control', 'no-store');
    next();
  });
  application.get('/healthz', (_request, response) => {
    response.type('text/plain').send('ok\n');
  });
  application.get('/readyz', (_request, response) => {
    const state = readiness();
    response
      .status(state.ready ? 200 : 503)
      .type('text/plain')
      .send(state.ready ? 'ok\n' : `${state.reason}\n`);
  });
  application.get('/metrics', async (_request, response) => {
    const text = await metrics.render();
    response.set('content-type', metrics.contentType).send(text);
  });
  application.use((_request, response) => {
    response.status(404).json(refusal(404, 'no such path; there are /healthz, /readyz and /metrics'));
  });
  const onError: ErrorRequestHandler = (_error, _request, response, _next) => {
    response.status(400).json(refusal(400, 'the request cannot be understood'));
  };
  application.use(onError);
  return application;
}
