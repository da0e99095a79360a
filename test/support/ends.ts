import { AsyncLocalStorage } from 'node:async_hooks';

type End = () => unknown;

/** Cleanups of each test: tests of a file may run at the same time. */
const scopes = new AsyncLocalStorage<End[]>();
/** Cleanups registered outside of tests. */
const outside: End[] = [];

/** Registers a cleanup for the end of the test, in files with `aroundEach(ending)`. */
export function endWith(end: End): void {
  (scopes.getStore() ?? outside).push(end);
}

/** Runs the cleanups, the last one first: clients of a server end before the server does, and do not retry in vain. */
export async function endAll(): Promise<void> {
  for (const end of (scopes.getStore() ?? outside).splice(0).reverse()) {
    await end();
  }
}

/** For `aroundEach`: ends what a test started when it is over, without affecting concurrent tests. */
export function ending(runTest: () => Promise<void>): Promise<void> {
  return scopes.run([], async () => {
    try {
      await runTest();
    } finally {
      await endAll();
    }
  });
}
