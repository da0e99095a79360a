import type { ClientRequest, IncomingMessage } from 'node:http';
import { withoutNodeHint } from '../../base/index.ts';
import { PublishedDocument } from '../../kubernetes/openapi/index.ts';
import { clientOf } from '../../server/index.ts';
import type { Aggregator } from '../aggregation/aggregator.ts';
import { type Backend, type Headers, userHeaders } from '../aggregation/backend.ts';
import { sandboxUser } from '../resources/resource.ts';
import { type SandboxHandler, type SandboxResponse, sendText } from './http.ts';

/** How long a server may take to begin its response, and to complete one that is not a watch, in ms. */
const timeoutMs = 60_000;
/** Headers that apply to a single connection (RFC 9110, 7.6.1). */
const hopByHop = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

function endToEnd(message: IncomingMessage): Headers {
  const named = new Set(
    (message.headers.connection ?? '')
      .toLowerCase()
      .split(',', 100)
      .map((name) => name.trim()),
  );
  const headers: Headers = {};
  for (const [name, values] of Object.entries(message.headersDistinct)) {
    if (values !== undefined && !hopByHop.has(name) && !named.has(name)) {
      headers[name] = values.length === 1 ? (values[0] as string) : values;
    }
  }
  return headers;
}

function passedHeaders(request: IncomingMessage, path: string): Headers {
  // Some are meant for the API server itself, or only the API server may set them.
  const own = Object.entries(endToEnd(request)).filter(
    ([name]) => name !== 'authorization' && name !== 'host' && !name.startsWith('x-remote-'),
  );
  const headers: Headers = Object.fromEntries(own);
  return {
    ...headers,
    'x-forwarded-for': [headers['x-forwarded-for'] ?? [], clientOf(request.socket) ?? ''].flat().join(', '),
    'x-forwarded-host': request.headers.host ?? '',
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': path,
    ...userHeaders(sandboxUser),
  };
}

/** Streams a request to a server and the response back, with backpressure: nothing is buffered for a side that does not read. */
function passOn(backend: Backend, request: IncomingMessage, response: SandboxResponse): void {
  const { url } = response.locals;
  const isWatch = ['watch', 'follow'].some((flag) => ['true', '1'].includes(url.searchParams.get(flag) ?? ''));
  const headers = passedHeaders(request, url.pathname);
  function fail(code: number, text: string): void {
    if (response.headersSent) {
      response.destroy();
    } else {
      sendText(response, code, `${text}\n`);
    }
  }
  let call: ClientRequest;
  try {
    call = backend.start(request.method ?? 'GET', `${url.pathname}${url.search}`, headers);
  } catch {
    // The Service has no endpoint, or its name cannot be part of a request.
    fail(503, 'service unavailable');
    return;
  }
  const timer = setTimeout(() => call.destroy(new Error(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
  response.once('close', () => {
    clearTimeout(timer);
    call.destroy();
  });
  call.on('error', (error) => {
    fail(503, `error trying to reach service: ${withoutNodeHint(error.message)}`);
  });
  // Without a listener Node closes the connection, and the client would wait forever.
  call.on('upgrade', (_, socket) => {
    socket.destroy();
    fail(502, 'error trying to reach service: it switched protocols');
  });
  call.on('response', (answer) => {
    if (isWatch) {
      clearTimeout(timer);
    }
    answer.on('error', () => response.destroy());
    const { statusCode = 0 } = answer;
    if (statusCode < 200 || statusCode > 599) {
      call.destroy();
      fail(502, `error trying to reach service: it answered with status ${statusCode}`);
      return;
    }
    response.writeHead(statusCode, endToEnd(answer));
    response.flushHeaders();
    answer.pipe(response);
  });
  request.pipe(call);
}

/** Below `/apis/GROUP/VERSION`, and the OpenAPI document of a group and version. */
const remotePath = /^\/(openapi\/v3\/)?apis\/([^/]+)\/([^/]+)(?:\/|$)/;

/** Passes requests for aggregated API servers on. What was converted from OpenAPI v2 is published here. */
export function aggregate({ aggregator }: { aggregator: Aggregator }): SandboxHandler {
  return (request, response, next) => {
    const [, isDocument, group = '', version = ''] = remotePath.exec(response.locals.url.pathname) ?? [];
    const remote = aggregator.find(group, version);
    const v3 = remote?.openapi?.v3;
    if (remote === undefined || (isDocument && (v3 === undefined || v3 instanceof PublishedDocument))) {
      next();
    } else if (remote.isAvailable) {
      passOn(remote.backend, request, response);
    } else {
      sendText(response, 503, 'service unavailable\n');
    }
  };
}
