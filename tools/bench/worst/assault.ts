// A child process that attacks a server until it is killed: sends every hostile body at sizes up to 7 MiB, never reads
// responses, holds idle connections open, and sends bodies byte by byte, or with more chunk extensions than content.
// Argument: the port. Reports counts.
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { connect, type TLSSocket } from 'node:tls';
import { webhookPaths } from '../../../src/webhook/index.ts';
import { type Shape, shapes } from './shapes.ts';

/** What has been done so far. */
export interface Assaults {
  bodies: number;
  unread: number;
  hoarded: number;
  slow: number;
  extended: number;
}

const [port, first = '0'] = process.argv.slice(2).map(Number);
const counts: Assaults = { bodies: 0, unread: 0, hoarded: 0, slow: 0, extended: 0 };
setInterval(() => process.send?.(counts), 500);
process.on('disconnect', () => process.exit());

/** A connection, or undefined if none can be opened now. */
async function open(): Promise<TLSSocket | undefined> {
  const socket = connect({ host: '127.0.0.1', port, rejectUnauthorized: false });
  socket.on('error', () => {});
  const opened = await Promise.race([once(socket, 'secureConnect').catch(() => 'no'), once(socket, 'close')]);
  return opened === 'no' || socket.destroyed ? undefined : socket;
}

function head(webhook: Shape['webhook'], length: number): string {
  return `POST ${webhookPaths[webhook]} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: ${length}\r\n\r\n`;
}

const mebibyte = 1024 * 1024;
const sizes = [100_000, mebibyte, 7 * mebibyte - 4096];

/** A step that is coprime to the number of shapes: all of them take turns, and similar ones are far apart. */
const step = 97;

/** Sends every shape in turn, each time in another size. */
async function sendBodies(): Promise<void> {
  for (let i = Number(first); ; i++) {
    const shape = shapes[(i * step) % shapes.length] as Shape;
    const body = shape.body(sizes[(i + Math.floor(i / shapes.length)) % sizes.length] as number);
    const socket = await open();
    if (socket === undefined) {
      await sleep(50);
      continue;
    }
    const closed = once(socket, 'close');
    socket.write(head(shape.webhook, body.length));
    socket.write(body);
    await Promise.race([once(socket, 'data').catch(() => {}), closed, sleep(10_000)]);
    socket.destroy();
    counts.bodies++;
  }
}

/** Requests large responses and reads none. */
async function neverRead(): Promise<void> {
  const large = shapes.find(({ name }) => name === 'convert: many small objects') as Shape;
  const body = large.body(mebibyte);
  for (;;) {
    const socket = await open();
    if (socket !== undefined) {
      socket.pause();
      socket.write(head(large.webhook, body.length));
      socket.write(body);
      counts.unread++;
      setTimeout(() => socket.destroy(), 60_000);
    }
    await sleep(1_000);
  }
}

/** Opens connections and leaves them idle. */
async function hoard(): Promise<void> {
  for (;;) {
    const socket = await open();
    if (socket !== undefined) {
      counts.hoarded++;
    }
    await sleep(20);
  }
}

/** Announces a body and sends it in small pieces. */
async function sendSlowly(): Promise<void> {
  for (;;) {
    const socket = await open();
    if (socket === undefined) {
      await sleep(50);
      continue;
    }
    counts.slow++;
    socket.write(head('validate', mebibyte));
    for (let i = 0; i < 300 && !socket.destroyed; i++) {
      socket.write(' '.repeat(100));
      await sleep(100);
    }
    socket.destroy();
  }
}

/** Sends bodies whose chunks have a byte each, and 4 KB of extensions, until the connection is closed. */
async function extendChunks(): Promise<void> {
  const chunks = `1;${'a=b;'.repeat(1000)}c\r\n \r\n`.repeat(20);
  for (;;) {
    const socket = await open();
    if (socket !== undefined) {
      counts.extended++;
      socket.write(
        `POST ${webhookPaths.validate} HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n`,
      );
      while (!socket.destroyed) {
        await new Promise<void>((resolve) => socket.write(chunks, () => resolve()));
      }
    }
    await sleep(50);
  }
}

await Promise.all([sendBodies(), neverRead(), hoard(), sendSlowly(), sendSlowly(), extendChunks()]);
