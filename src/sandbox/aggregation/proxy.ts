import type { ClientRequest, IncomingMessage, ServerResponse } from 'node:http';
import { withoutNodeHint } from '../../base/index.ts';
import { clientOf } from '../../server/index.ts';
import { sandboxUser } from '../resources/resource.ts';
import { type Backend, type Headers, userHeaders } from './backend.ts';

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

/** Whether a header is meant for the API server itself, or only the API server may set it. */
function isForApiServer(name: string): boolean {
  return name === 'authorization' || name === 'host' || name.startsWith('x-remote-');
}

/** The end-to-end headers of a message, with names in lower case. */
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

/** The headers of a proxied request: the client's own, the user, and the client's address. */
function passedHeaders(request: IncomingMessage, path: string): Headers {
  const headers: Headers = {};
  for (const [name, value] of Object.entries(endToEnd(request))) {
    if (!isForApiServer(name)) {
      headers[name] = value;
    }
  }
  const before = headers['x-forwarded-for'];
  const remote = clientOf(request.socket) ?? '';
  return {
    ...headers,
    'x-forwarded-for': [...(typeof before === 'string' ? [before] : (before ?? [])), remote].join(', '),
    'x-forwarded-host': request.headers.host ?? '',
    'x-forwarded-proto': 'https',
    'x-forwarded-uri': path,
    ...userHeaders(sandboxUser),
  };
}

function sendPlain(response: ServerResponse, code: number, text: string): void {
  if (response.headersSent) {
    response.destroy();
    return;
  }
  response.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8', 'X-Content-Type-Options': 'nosniff' });
  response.end(`${text}\n`);
}

/** Streams a request to a server and the response back, with backpressure: nothing is buffered for a side that does not read. */
export function passOn(backend: Backend, request: IncomingMessage, response: ServerResponse, url: URL): void {
  const isWatch = ['watch', 'follow'].some((flag) => ['true', '1'].includes(url.searchParams.get(flag) ?? ''));
  const headers = passedHeaders(request, url.pathname);
  let call: ClientRequest;
  try {
    call = backend.start(request.method ?? 'GET', `${url.pathname}${url.search}`, headers);
  } catch {
    // The Service has no endpoint, or its name cannot be part of a request.
    sendPlain(response, 503, 'service unavailable');
    return;
  }
  const timer = setTimeout(() => call.destroy(new Error(`no response within ${timeoutMs / 1000} s`)), timeoutMs);
  response.once('close', () => {
    clearTimeout(timer);
    call.destroy();
  });
  call.on('error', (error) => {
    sendPlain(response, 503, `error trying to reach service: ${withoutNodeHint(error.message)}`);
  });
  // Without a listener Node closes the connection, and the client would wait forever.
  call.on('upgrade', (_, socket) => {
    socket.destroy();
    sendPlain(response, 502, 'error trying to reach service: it switched protocols');
  });
  call.on('response', (answer) => {
    if (isWatch) {
      clearTimeout(timer);
    }
    answer.on('error', () => response.destroy());
    const { statusCode = 0 } = answer;
    if (statusCode < 200 || statusCode > 599) {
      call.destroy();
      sendPlain(response, 502, `error trying to reach service: it answered with status ${statusCode}`);
      return;
    }
    response.writeHead(statusCode, endToEnd(answer));
    response.flushHeaders();
    answer.pipe(response);
  });
  request.pipe(call);
}
