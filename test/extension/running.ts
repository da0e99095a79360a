import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  createExtensionServer,
  type ExtensionServerOptions,
  type Handler,
  type RunningExtension,
} from '../../src/extension/index.ts';
import type { JsonObject } from '../../src/kubernetes/index.ts';
import { localhost, testCa } from '../server/certificates.ts';
import { collectingLog, pairOf } from '../server/running.ts';

const open: (() => Promise<void>)[] = [];

/** A folder with a serving certificate for localhost. */
export function certificateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  const { cert, key } = pairOf(localhost);
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  open.push(async () => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts an extension on free ports of loopback, with a log that is kept. */
export async function startExtension(handlers: readonly Handler[], options: Partial<ExtensionServerOptions> = {}) {
  const { log, lines } = collectingLog();
  const server = createExtensionServer({
    handlers,
    certificates: { folder: certificateFolder() },
    host: '127.0.0.1',
    port: 0,
    healthHost: '127.0.0.1',
    healthPort: 0,
    log,
    processMetrics: false,
    ...options,
  });
  const running: RunningExtension = await server.start();
  open.push(() => running.stop({ graceMs: 0, timeoutMs: 100 }));
  return { ...running, server, lines, health: `http://127.0.0.1:${running.healthPort}` };
}

/** Has something done at the end of a test. */
export function endWith(end: () => Promise<void>): void {
  open.push(end);
}

/** Ends what a test started. */
export async function endAll(): Promise<void> {
  await Promise.all(open.splice(0).map((end) => end()));
}

/** Posts a body as Cluster API does: without Content-Type. */
export function post(
  port: number,
  path: string,
  body: string | Buffer,
  options: { method?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<{ code: number; body: string; json: () => JsonObject }> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      {
        host: '127.0.0.1',
        servername: 'localhost',
        port,
        path,
        method: 'POST',
        ca: testCa.cert,
        agent: false,
        ...options,
        headers: options.headers?.['transfer-encoding']
          ? options.headers
          : { 'content-length': String(Buffer.byteLength(body)), ...options.headers },
      },
      (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', reject);
        response.on('end', () => {
          const text = Buffer.concat(chunks).toString();
          resolve({ code: response.statusCode ?? 0, body: text, json: () => JSON.parse(text) as JsonObject });
        });
      },
    );
    request.on('error', reject);
    request.end(body);
  });
}
