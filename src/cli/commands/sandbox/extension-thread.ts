// The thread of the sandbox's sample extension, so that requests to it cost the API server neither time nor memory.
import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { createSampleExtension } from '../../../extension/sample/index.ts';
import type { CertificateEvent, CertificateSource } from '../../../server/index.ts';

/** The input of the thread. */
export interface ExtensionThreadData {
  /** On loopback; 0 means any free port. */
  port: number;
  version: string;
}

/** Messages from the thread. */
export type ExtensionThreadMessage = { listening: number } | { failed: string } | { log: string };

function say(message: ExtensionThreadMessage): void {
  parentPort?.postMessage(message);
}

/**
 * The certificate, which the main thread follows and passes on: with its own Kubernetes client, this thread would take
 * a third of a second and 70 MiB more.
 */
const certificates: CertificateSource = {
  async start(onEvent) {
    const { promise: first, resolve } = Promise.withResolvers<void>();
    parentPort?.on('message', (news: CertificateEvent) => {
      onEvent(news);
      resolve();
    });
    await first;
  },
  stop() {
    parentPort?.removeAllListeners('message');
  },
};

const { port, version } = workerData as ExtensionThreadData;
const log = pino(
  { level: 'warn', base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
  { write: (line: string) => say({ log: line }) },
);
try {
  const running = await createSampleExtension({
    certificates,
    host: '127.0.0.1',
    port,
    // Only its Service can be found, so nobody could probe it.
    healthPort: 'none',
    log,
    version,
    processMetrics: false,
  }).start();
  say({ listening: running.port });
} catch (error) {
  say({ failed: (error as Error).message });
}
