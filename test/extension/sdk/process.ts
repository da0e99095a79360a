// An extension that runs until SIGTERM: `node process.ts sleeping|deaf|floating`.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createExtensionServer, createJobs, handler } from '../../../src/extension/index.ts';

const [kind] = process.argv.slice(2);
const jobs = createJobs();
const work: Record<string, (signal: AbortSignal) => Promise<void>> = {
  sleeping: (signal) => sleep(3_600_000, undefined, { signal }),
  deaf: () => sleep(3_600_000),
  floating: async () => {
    void Promise.reject(new Error('nobody awaits this'));
  },
};
const run = work[kind ?? ''] ?? work.sleeping!;

await createExtensionServer({
  handlers: [
    handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, context) => jobs.answer(context, { key: 'one', message: 'work', run }),
    }),
  ],
  certificates: { development: mkdtempSync(join(tmpdir(), 'process-')) },
  host: '127.0.0.1',
  port: 0,
  healthHost: '127.0.0.1',
  healthPort: 0,
}).run();
