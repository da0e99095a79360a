// The thread of the sandbox's sample extension: requests to it cost the API server neither time nor memory.
import { parentPort, workerData } from 'node:worker_threads';
import { pino } from 'pino';
import { createSampleExtension } from '../../sample/index.ts';

/** What the thread is started with. */
export interface ExtensionThreadData {
  kubeconfigFile: string;
  /** `NAMESPACE/NAME` of the Secret with the serving certificate. */
  secret: string;
  /** On loopback; 0 takes any free one. */
  port: number;
  version: string;
}

/** Messages of the thread. */
export type ExtensionThreadMessage = { listening: number } | { failed: string } | { log: string };

function say(message: ExtensionThreadMessage): void {
  parentPort?.postMessage(message);
}

const { kubeconfigFile, secret, port, version } = workerData as ExtensionThreadData;
const log = pino(
  { level: 'warn', base: null, timestamp: false, formatters: { level: (label) => ({ level: label }) } },
  { write: (line: string) => say({ log: line }) },
);
try {
  const running = await createSampleExtension({
    certificates: { secret, kubeconfig: kubeconfigFile },
    host: '127.0.0.1',
    port,
    healthHost: '127.0.0.1',
    healthPort: 0,
    log,
    version,
    processMetrics: false,
  }).start();
  say({ listening: running.port });
} catch (error) {
  say({ failed: (error as Error).message });
}
