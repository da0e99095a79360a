import { once } from 'node:events';
import { connect as connectHttp2 } from 'node:http2';
import { openTls, type Resolve, type Target } from '../../runtimehooks/client/index.ts';

/** Starts a POST that announces a longer body than it sends, and disconnects. */
export async function hangUpWithinRequest(
  target: Target,
  resolve: Resolve | undefined,
  signal: AbortSignal,
): Promise<void> {
  const socket = await openTls(target, resolve, signal, { ALPNProtocols: ['http/1.1'] });
  if (socket !== undefined) {
    const head = `POST ${target.path} HTTP/1.1\r\nHost: ${target.host}\r\nContent-Length: 1000\r\n\r\n`;
    await new Promise<void>((done) => socket.write(`${head}{"apiVersion":`, () => done()));
    socket.destroy();
  }
}

type Http2Outcome = { offered: false } | { offered: true; code: number | undefined };

/** Longest response over HTTP/2 that is read, in bytes. */
const maxBytes = 2 * 1024 * 1024;

/**
 * Calls a server over HTTP/2 if it offers it, which is when Go's client uses it. `code` is undefined without a
 * response.
 */
export async function callOverHttp2(
  target: Target,
  body: string,
  resolve: Resolve | undefined,
  signal: AbortSignal,
): Promise<Http2Outcome | undefined> {
  const socket = await openTls(target, resolve, signal, { ALPNProtocols: ['h2', 'http/1.1'] });
  if (socket === undefined) {
    return undefined;
  }
  if (socket.alpnProtocol !== 'h2') {
    socket.destroy();
    return { offered: false };
  }
  const session = connectHttp2(target.origin, { createConnection: () => socket });
  session.on('error', () => {});
  try {
    const stream = session.request({ ':method': 'POST', ':path': target.path }, { signal });
    stream.on('error', () => {});
    stream.end(body);
    const [headers] = (await once(stream, 'response', { signal })) as [Record<string, unknown>];
    let length = 0;
    for await (const chunk of stream) {
      length += (chunk as Buffer).length;
      if (length > maxBytes) {
        return { offered: true, code: undefined };
      }
    }
    return { offered: true, code: Number(headers[':status']) };
  } catch {
    return { offered: true, code: undefined };
  } finally {
    session.destroy();
  }
}
