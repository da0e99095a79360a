import { createHash, timingSafeEqual } from 'node:crypto';
import type { ErrorRequestHandler, Express } from 'express';
import type { Registry as MetricsRegistry } from 'prom-client';
import { failure, refusal } from '../../kubernetes/index.ts';
import { DefaultsError } from '../../kubernetes/schema/index.ts';
import { createApplication, createBody, createRefuse, defaultLimits, InFlight, Refusal } from '../../server/index.ts';
import { badRequest, failed, RequestError, tooLarge } from '../resources/errors.ts';
import type { AdmissionEvent, ApiContext } from '../webhooks/admission.ts';
import { type DocumentContext, documentRoutes, version } from './documents.ts';
import { answerResource, findTarget } from './endpoints.ts';
import {
  noCache,
  type SandboxHandler,
  type SandboxResponse,
  sendJson,
  sendText,
  sendUnknownPath,
  warningHeaders,
} from './http.ts';
import { aggregate } from './proxy.ts';

/** An event that is not reported to clients. Of a bug: the method and URL of the request, and the error. */
export type SandboxEvent = AdmissionEvent | { event: 'bug'; request: string; message: string };

export interface SandboxContext extends ApiContext, DocumentContext {
  metrics: MetricsRegistry;
  token: string;
  log(event: SandboxEvent): void;
}

/** Largest body of a request, in bytes; the limit of the real API server. */
const maxBodyBytes = 3 * 1024 * 1024;

const begin: SandboxHandler = ({ originalUrl }, response, next) => {
  const { locals } = response;
  const url = URL.parse(originalUrl, 'https://sandbox');
  locals.warnings = [];
  if (url === null) {
    throw badRequest('the URL of the request is not valid');
  }
  locals.url = url;
  try {
    decodeURIComponent(url.pathname);
  } catch {
    sendUnknownPath(response);
    return;
  }
  next();
};

/** Lets the only user pass; tokens are compared in constant time. */
function authorize(token: string): SandboxHandler {
  const digest = (text: string) => createHash('sha256').update(text).digest();
  const wanted = digest(`Bearer ${token}`);
  return ({ headers }, _response, next) => {
    if (!timingSafeEqual(digest(headers.authorization ?? ''), wanted)) {
      throw failed(401, 'Unauthorized', 'Unauthorized');
    }
    if (headers['impersonate-user'] !== undefined) {
      throw badRequest('the sandbox has no impersonation: its only user is sandbox-admin');
    }
    next();
  };
}

/** Makes a Status of an error, as a kube-apiserver does. */
function describeError(log: SandboxContext['log']): ErrorRequestHandler {
  function statusOf(error: unknown, request: string) {
    if (error instanceof RequestError) {
      return error.status;
    }
    if (error instanceof DefaultsError) {
      return tooLarge(error.message).status;
    }
    if (error instanceof Refusal) {
      return error.code === 413 ? tooLarge(`limit is ${maxBodyBytes}`).status : refusal(error.code, error.message);
    }
    log({ event: 'bug', request, message: String((error as Error).stack) });
    return failure(500, 'InternalError', 'Internal error occurred: this is a bug of the sandbox; see its log');
  }
  return (error, request, response, next) => {
    const status = statusOf(error, `${request.method} ${request.originalUrl}`);
    if (response.headersSent) {
      response.destroy();
      return;
    }
    response.set({ 'Cache-Control': noCache, ...warningHeaders(response.locals.warnings) });
    next(new Refusal(status.code, status.message ?? '', { code: status.code, text: `${JSON.stringify(status)}\n` }));
  };
}

const all = /.*/;

/** The API server, from top to bottom. */
export function createSandboxApplication(context: SandboxContext): Express {
  const { metrics } = context;
  const body = createBody({ maxBodyBytes }, new InFlight(defaultLimits.maxInFlightBytes), true);
  const application = createApplication();
  application.all(all, begin);
  application.all(['/healthz', '/readyz', '/livez'], (_, response: SandboxResponse) => sendText(response, 200, 'ok'));
  // Clients generated from Kubernetes' OpenAPI documents append a slash.
  application.all(['/version', '/version/'], (_, response: SandboxResponse) => sendJson(response, 200, version));
  application.all(all, authorize(context.token));
  application.get('/metrics', async (_, response: SandboxResponse) => {
    sendText(response, 200, await metrics.metrics(), metrics.contentType);
  });
  application.all(all, aggregate(context)).use(documentRoutes(context));
  application.all(all, findTarget(context), body, answerResource(context));
  application.use(describeError(context.log), createRefuse({ error: () => {} }));
  return application;
}
