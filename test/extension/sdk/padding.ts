import { setTimeout as sleep } from 'node:timers/promises';
import type { TLSSocket } from 'node:tls';

function frame(type: number, flags: number, stream: number, payload: Buffer): Buffer {
  const head = Buffer.from([0, payload.length >> 8, payload.length & 255, type, flags, 0, 0, 0, stream]);
  return Buffer.concat([head, payload]);
}

const literal = (name: number, text: string) => Buffer.from([name, text.length, ...Buffer.from(text)]);

/** An empty DATA frame with 255 bytes of padding (RFC 9113, 6.1). */
const padding = frame(0, 8, 1, Buffer.from([255, ...Buffer.alloc(255)]));

/**
 * Sends a POST over HTTP/2 whose body is empty, but padded, as fast as the server opens its windows, until the connection
 * closes.
 *
 * @param socket has negotiated h2.
 * @param path shorter than 127 characters.
 * @param mostBytes at which it gives up.
 * @returns the bytes of padding that were sent.
 */
export async function sendPadding(socket: TLSSocket, path: string, mostBytes: number): Promise<number> {
  const headers = Buffer.concat([Buffer.from([0x83, 0x87]), literal(4, path), literal(1, 'localhost')]);
  socket.write('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n');
  socket.write(Buffer.concat([frame(4, 0, 0, Buffer.alloc(0)), frame(1, 4, 1, headers)]));
  // The windows of the connection and of the stream, which the server opens again and again.
  const windows: [number, number] = [65_535, 256 * 1024];
  let received = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 9 && received.length >= 9 + received.readUIntBE(0, 3)) {
      const stream = received.readUInt32BE(5);
      if (received[3] === 8) {
        windows[stream === 0 ? 0 : 1] += received.readUInt32BE(9);
      }
      received = received.subarray(9 + received.readUIntBE(0, 3));
    }
  });
  let sent = 0;
  while (!socket.closed && sent <= mostBytes) {
    const count = Math.floor(Math.min(...windows) / 256);
    windows[0] -= count * 256;
    windows[1] -= count * 256;
    sent += count * padding.length;
    if (count > 0) {
      socket.write(Buffer.concat(Array.from({ length: count }, () => padding)));
    }
    await sleep(5);
  }
  return sent;
}
