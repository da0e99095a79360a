import { connect, type TLSSocket } from 'node:tls';

/** The result of one round of load. */
export interface Round {
  requestsPerSecond: number;
  /** Milliseconds of each request, ascending. */
  latencies: Float64Array;
}

const headerEnd = Buffer.from('\r\n\r\n');

/** Sends one request after the other on one connection until `endsAt` (performance.now()). */
function drive(socket: TLSSocket, request: Buffer, endsAt: number, latencies: number[]): Promise<void> {
  return new Promise((resolve, reject) => {
    let pending: Buffer = Buffer.alloc(0);
    let sentAt = 0;
    function next(): void {
      sentAt = performance.now();
      socket.write(request);
    }
    function onData(chunk: Buffer): void {
      pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk]);
      const end = pending.indexOf(headerEnd);
      if (end === -1) {
        return;
      }
      const head = pending.toString('latin1', 0, end);
      const length = Number(/content-length: (\d+)/i.exec(head)?.[1]);
      if (!head.startsWith('HTTP/1.1 200') || !Number.isInteger(length)) {
        reject(new Error(`unexpected answer: ${pending.toString()}`));
        return;
      }
      if (pending.length < end + headerEnd.length + length) {
        return;
      }
      pending = Buffer.alloc(0);
      const now = performance.now();
      latencies.push(now - sentAt);
      if (now < endsAt) {
        next();
      } else {
        socket.off('data', onData);
        socket.off('error', reject);
        resolve();
      }
    }
    socket.on('data', onData);
    socket.once('error', reject);
    next();
  });
}

/** Opens connections that stay open. */
export function openConnections(port: number, count: number): Promise<TLSSocket[]> {
  return Promise.all(
    Array.from(
      { length: count },
      () =>
        new Promise<TLSSocket>((resolve, reject) => {
          // Certificates of benches are self-signed.
          const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false }, () => resolve(socket));
          socket.setNoDelay(true).once('error', reject);
        }),
    ),
  );
}

/** The bytes of one POST of JSON. */
export function requestBytes(path: string, body: string): Buffer {
  const head = [
    `POST ${path}?timeout=10s HTTP/1.1`,
    'host: webhook.example:9443',
    'user-agent: kube-apiserver-admission',
    `content-length: ${Buffer.byteLength(body)}`,
    'accept: application/json, */*',
    'content-type: application/json',
    'accept-encoding: gzip',
  ];
  return Buffer.from(`${head.join('\r\n')}\r\n\r\n${body}`);
}

/** Keeps every connection busy with one request at a time. Rejects on any response other than 200. */
export async function load(connections: readonly TLSSocket[], request: Buffer, milliseconds: number): Promise<Round> {
  const latencies: number[] = [];
  const startedAt = performance.now();
  await Promise.all(connections.map((socket) => drive(socket, request, startedAt + milliseconds, latencies)));
  const seconds = (performance.now() - startedAt) / 1000;
  return { requestsPerSecond: latencies.length / seconds, latencies: Float64Array.from(latencies).sort() };
}
