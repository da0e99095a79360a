// A thread in place of the sample extension: it listens at once, and its messages decide how long it lives.
import { parentPort, workerData } from 'node:worker_threads';
import type { ExtensionThreadData } from '../../../../src/cli/commands/sandbox/extension-thread.ts';

const { port } = workerData as ExtensionThreadData;
// The first one gets no port, and exits by itself; later ones use the port of the first.
parentPort?.postMessage({ listening: port === 0 ? 12_345 : port });
parentPort?.postMessage({ log: '{"level":"warn","msg":"it listens","port":1}' });
if (port === 0) {
  setTimeout(() => process.exit(), 100);
} else {
  setInterval(() => {}, 60_000);
}
