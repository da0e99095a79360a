// An extension that runs until SIGTERM, with jobs of these kinds: `node process.ts sleeping deaf`, or `floating`.
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { createExtensionServer, createJobs, handler } from '../../../src/extension/index.ts';

// A shutdown may take 25 s: here time passes ten times as fast.
const { setTimeout: wait } = globalThis;
globalThis.setTimeout = ((work: () => void, ms = 0) => wait(work, ms / 10)) as typeof setTimeout;

const kinds = process.argv.slice(2);
const work: Record<string, (signal: AbortSignal) => Promise<void>> = {
  sleeping: (signal) => sleep(3_600_000, undefined, { signal }),
  deaf: () => sleep(3_600_000),
  floating: async () => {
    void Promise.reject(new Error('nobody awaits this'));
  },
};
const jobs = createJobs({ run: ({ key }, signal) => work[key]!(signal) });

await createExtensionServer({
  handlers: [
    handler('BeforeClusterCreate', {
      name: 'create',
      handle: (_, context) => kinds.map((key) => jobs.answer(context, { key, message: 'work' })).at(-1)!,
    }),
  ],
  certificates: { development: mkdtempSync(join(tmpdir(), 'process-')) },
  host: '127.0.0.1',
  port: 0,
  healthHost: '127.0.0.1',
  healthPort: 0,
}).run();
