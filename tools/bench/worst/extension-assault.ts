// A child process that attacks an extension server with --client-ca-file until it is killed: clients resume TLS sessions
// after their certificates have expired, and send little else than padding over HTTP/2. Beside them an ordinary client
// calls. Argument: the port. Reports counts.
import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { setTimeout as sleep } from 'node:timers/promises';
import { type ConnectionOptions, connect, type TLSSocket } from 'node:tls';
import { hooksGroup } from '../../../src/runtimehooks/index.ts';
import { makeCertificate, testCa } from '../../../test/base/x509/certificates.ts';
import { sendPadding } from '../../../test/extension/sdk/padding.ts';

/** What has been done so far. */
export interface ExtensionAssaults {
  /** Ordinary calls, and those without a 200. */
  calls: number;
  failed: number;
  /** Connections that offered the session of an expired certificate, and those whose call was answered. */
  expired: number;
  outlived: number;
  /** Connections with padding, and those that could send more than a GiB of it: the server looks once a second. */
  padded: number;
  swallowed: number;
}

const port = Number(process.argv[2]);
const counts: ExtensionAssaults = { calls: 0, failed: 0, expired: 0, outlived: 0, padded: 0, swallowed: 0 };
setInterval(() => process.send?.(counts), 500);
process.on('disconnect', () => process.exit());

const path = `/${hooksGroup}/v1alpha1/discovery`;
const body = JSON.stringify({ apiVersion: `${hooksGroup}/v1alpha1`, kind: 'DiscoveryRequest' });
const server = { host: '127.0.0.1', port, servername: 'localhost', ca: testCa.cert };
const client = makeCertificate({ commonName: 'caller', issuer: testCa });

async function open(options: ConnectionOptions): Promise<TLSSocket> {
  const socket = connect({ ...server, ...options });
  socket.on('error', () => {});
  await Promise.race([once(socket, 'secureConnect'), once(socket, 'close')]).catch(() => {});
  return socket;
}

async function callOrdinarily(): Promise<void> {
  const agent = new Agent({ ...server, ...client, keepAlive: true });
  for (;;) {
    const code = await new Promise<number | undefined>((resolve) => {
      const call = request({ ...server, path, method: 'POST', agent }, (response) => {
        response.resume().on('close', () => resolve(response.statusCode));
      });
      call.on('error', () => resolve(undefined));
      call.end(body);
    });
    counts.calls++;
    counts.failed += code === 200 ? 0 : 1;
    await sleep(10);
  }
}

/** Calls once on a connection: the status code, and the newest session. */
async function callOnce(options: ConnectionOptions): Promise<{ code: number; session: Buffer | undefined }> {
  const socket = await open(options);
  let session = socket.getSession();
  let text = '';
  socket.on('session', (newest) => {
    session = newest;
  });
  socket.on('data', (chunk) => {
    text += chunk;
  });
  const closed = once(socket, 'close').catch(() => {});
  socket.write(
    `POST ${path} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  );
  await closed;
  return { code: Number(text.slice(9, 12)), session };
}

async function outlive(version: 'TLSv1.2' | 'TLSv1.3'): Promise<void> {
  for (;;) {
    // In a certificate, times have whole seconds.
    const notAfter = new Date(Math.ceil(Date.now() / 1000) * 1000 + 2_000);
    const options = {
      ...makeCertificate({ commonName: 'caller', issuer: testCa, notAfter }),
      minVersion: version,
      maxVersion: version,
    };
    const { session } = await callOnce(options);
    await sleep(notAfter.getTime() + 1_000 - Date.now());
    for (let i = 0; i < 20; i++) {
      const { code } = await callOnce({ ...options, ...(session && { session }) });
      counts.expired++;
      counts.outlived += code === 200 ? 1 : 0;
      await sleep(50);
    }
  }
}

const enough = 1024 ** 3;

async function pad(): Promise<void> {
  for (;;) {
    const socket = await open({ ...client, ALPNProtocols: ['h2'] });
    const sent = await sendPadding(socket, path, enough);
    counts.padded++;
    counts.swallowed += sent > enough ? 1 : 0;
    socket.destroy();
    await sleep(50);
  }
}

await Promise.all([callOrdinarily(), outlive('TLSv1.2'), outlive('TLSv1.3'), pad()]);
