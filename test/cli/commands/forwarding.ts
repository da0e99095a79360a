import { once } from 'node:events';
import { createServer } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';
import { constants, createDeflate } from 'node:zlib';
import type { Sandbox } from '../../../src/sandbox/index.ts';
import { send } from '../../sandbox/client.ts';

// What an API server, a kubelet and a pod are for `kubectl port-forward`, in front of a sandbox: SPDY/3.1 with two streams
// for each connection, of which the first is for errors (k8s.io/client-go, tools/portforward).
const frame = { synStream: 1, synReply: 2, reset: 3, ping: 6 };
const finFlag = 1;

function control(type: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt16BE(0x8003, 0);
  head.writeUInt16BE(type, 2);
  head.writeUInt32BE(payload.length, 4);
  return Buffer.concat([head, payload]);
}

function data(stream: number, bytes: Buffer, flags = 0): Buffer {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(stream, 0);
  head.writeUInt32BE(bytes.length, 4);
  head.writeUInt8(flags, 4);
  return Buffer.concat([head, bytes]);
}

function forward(socket: Duplex, port: number): void {
  const connections = new Map<number, Socket>();
  // One compression context for all headers, of which there are none.
  const deflate = createDeflate();
  let replies = Promise.resolve();
  const reply = (stream: number) => {
    replies = replies.then(async () => {
      deflate.write(Buffer.alloc(4));
      await new Promise<void>((done) => deflate.flush(constants.Z_SYNC_FLUSH, done));
      const id = Buffer.alloc(4);
      id.writeUInt32BE(stream);
      socket.write(control(frame.synReply, Buffer.concat([id, deflate.read() as Buffer])));
    });
  };
  const open = (stream: number) => {
    reply(stream);
    if (stream % 4 === 3) {
      const end = () => {
        socket.write(data(stream, Buffer.alloc(0), finFlag));
        socket.write(data(stream - 2, Buffer.alloc(0), finFlag));
      };
      const connection = connect(port, 'localhost').on('error', end).on('end', end);
      connection.on('data', (bytes) => replies.then(() => socket.write(data(stream, bytes))));
      connections.set(stream, connection);
    }
  };
  let waiting: Buffer = Buffer.alloc(0);
  socket.on('data', (bytes: Buffer) => {
    waiting = Buffer.concat([waiting, bytes]);
    while (waiting.length >= 8) {
      const length = waiting.readUIntBE(5, 3);
      if (waiting.length < 8 + length) {
        return;
      }
      const payload = waiting.subarray(8, 8 + length);
      const [first, type, flags] = [waiting.readUInt32BE(0), waiting.readUInt16BE(2), waiting.readUInt8(4)];
      waiting = waiting.subarray(8 + length);
      if (first < 0x80000000) {
        connections.get(first)?.write(payload);
        if ((flags & finFlag) !== 0) {
          connections.get(first)?.end();
        }
      } else if (type === frame.synStream) {
        open(payload.readUInt32BE(0));
      } else if (type === frame.ping) {
        socket.write(control(frame.ping, payload));
      } else if (type === frame.reset) {
        connections.get(payload.readUInt32BE(0))?.destroy();
      }
    }
  });
  const close = () => {
    for (const connection of connections.values()) {
      connection.destroy();
    }
  };
  socket.on('close', close).on('error', close);
}

/** An API server over HTTP whose pods are all one port of this machine; everything else a sandbox answers. */
export async function startForwarding(sandbox: Sandbox, port: number) {
  const forwarded: string[] = [];
  const sockets = new Set<Duplex>();
  const server = createServer(async ({ method = '', url = '', headers: { accept = '*/*' } }, response) => {
    const { status, headers, bytes } = await send(sandbox, method, url, { headers: { accept } });
    response.writeHead(status, { 'content-type': String(headers['content-type']) }).end(bytes);
  });
  server.on('upgrade', ({ url = '', headers }, socket) => {
    sockets.add(socket);
    // Sockets of an HTTP server stay half open: without this, one is left if kubectl is ended while nothing is written.
    socket.on('end', () => socket.end());
    socket.on('close', () => sockets.delete(socket));
    if (headers.upgrade !== 'SPDY/3.1') {
      // kubectl tries WebSockets first, and falls back as it does for older servers.
      socket.end('HTTP/1.1 400 Bad Request\r\ncontent-length: 0\r\n\r\n');
      return;
    }
    forwarded.push(url);
    const lines = ['Connection: Upgrade', 'Upgrade: SPDY/3.1', 'X-Stream-Protocol-Version: portforward.k8s.io'];
    socket.write(`HTTP/1.1 101 Switching Protocols\r\n${lines.join('\r\n')}\r\n\r\n`);
    forward(socket, port);
  });
  await once(server.listen(0, '127.0.0.1'), 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    forwarded,
    open: () => sockets.size,
    close() {
      server.close();
      for (const socket of sockets) {
        socket.destroy();
      }
    },
  };
}
