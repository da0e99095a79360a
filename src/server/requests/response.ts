import { refusal, type Status } from '../../kubernetes/index.ts';
import type { TrackedRequest, TrackedResponse } from '../connections/tracked.ts';
import { arrivesInCrumbs } from './body.ts';

const jsonType = 'application/json';

/** Sends a JSON text of `bytes` bytes in one write. With `close`, the response closes an HTTP/1.1 connection. */
export function sendJson(
  response: TrackedResponse,
  code: number,
  text: string,
  bytes: number,
  close: boolean,
  more?: Readonly<Record<string, string>>,
): void {
  const headers = ['content-type', jsonType, 'content-length', String(bytes)];
  if (close && !response.isHttp2) {
    headers.push('connection', 'close');
  }
  if (more !== undefined) {
    headers.push(...Object.entries(more).flat());
  }
  response.writeHead(code, headers);
  response.end(text);
}

/**
 * Refuses a request whose body was not read (with a Status, or any JSON text), and ends the connection. The response is
 * sent at once, but what the client still sends is discarded for a while before the connection is closed: closing a
 * socket with unread data resets it, and the reset overtakes the response. Over HTTP/2 the client is told to stop
 * sending, and the connection stays open.
 */
export function refuseUnread(
  request: TrackedRequest,
  response: TrackedResponse,
  refused: Status | { code: number; text: string },
  maxDiscardedBytes: number,
  headers: Readonly<Record<string, string>> = {},
): void {
  const text = 'text' in refused ? refused.text : JSON.stringify(refused);
  response.writeHead(refused.code, [
    ...Object.entries(headers).flat(),
    'content-type',
    jsonType,
    'content-length',
    String(Buffer.byteLength(text)),
    ...(response.isHttp2 ? [] : ['connection', 'close']),
  ]);
  if (response.isHttp2) {
    response.end(text);
    if (!request.complete) {
      response.refuseRest();
    }
    return;
  }
  if (request.complete) {
    response.end(text);
    return;
  }
  response.write(text);
  let discarded = 0;
  let pieces = 0;
  request.on('data', (chunk: Buffer) => {
    discarded += chunk.length;
    pieces++;
    if (arrivesInCrumbs(pieces, discarded)) {
      // Otherwise all that is left in the socket's buffer, megabytes of it, would be read before the connection closes.
      request.pause();
      response.end();
    } else if (discarded > maxDiscardedBytes) {
      response.end();
    }
  });
  request.once('end', () => response.end());
  request.once('error', () => response.end());
}

/** A refusal as raw bytes, for connections on which no request could be read. */
export function rawRefusal(code: number, reasonPhrase: string, message: string): string {
  const text = JSON.stringify(refusal(code, message));
  return `HTTP/1.1 ${code} ${reasonPhrase}\r\ncontent-type: ${jsonType}\r\ncontent-length: ${Buffer.byteLength(text)}\r\nconnection: close\r\n\r\n${text}`;
}
