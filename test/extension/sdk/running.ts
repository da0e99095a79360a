import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ExtensionServerOptions, Handler, RunningExtension } from '../../../src/extension/index.ts';
import { createHostedExtension } from '../../../src/extension/sample/index.ts';
import { localhost } from '../../base/x509/certificates.ts';
import { type Answer, collectingLog, exchange, pairOf } from '../../server/running.ts';
import { endWith } from '../../support/ends.ts';

/** A folder with a serving certificate for localhost. */
export function certificateFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'extension-'));
  const { cert, key } = pairOf(localhost);
  writeFileSync(join(folder, 'tls.crt'), cert);
  writeFileSync(join(folder, 'tls.key'), key);
  endWith(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Starts an extension on free ports of loopback, with a log that is recorded. */
export async function startExtension(handlers: readonly Handler[], options: Partial<ExtensionServerOptions> = {}) {
  const { log, lines } = collectingLog();
  const server = createHostedExtension({
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
  endWith(() => running.stop({ graceMs: 0, timeoutMs: 100 }));
  return { ...running, server, lines, health: `http://127.0.0.1:${running.healthPort}` };
}

/** Posts a body as Cluster API does: without Content-Type. */
export function post(
  port: number,
  path: string,
  body: string | Buffer,
  options: { method?: string; headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer> {
  const isChunked = options.headers?.['transfer-encoding'] !== undefined;
  const length = isChunked ? {} : { 'content-length': String(Buffer.byteLength(body)) };
  return exchange(port, path, body, { ...options, headers: { ...length, ...options.headers } });
}
