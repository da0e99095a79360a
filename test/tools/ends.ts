import { AsyncLocalStorage } from 'node:async_hooks';

type End = () => unknown;

/** What each test started: tests of a file may run at the same time. */
const scopes = new AsyncLocalStorage<End[]>();
/** What was started outside of tests. */
const outside: End[] = [];

/** Has something done at the end of the test, in files with `aroundEach(ending)`. */
export function endWith(end: End): void {
  (scopes.getStore() ?? outside).push(end);
}

/** Ends what was started, the last first: what calls a server ends before the server, and does not try again in vain. */
export async function endAll(): Promise<void> {
  for (const end of (scopes.getStore() ?? outside).splice(0).reverse()) {
    await end();
  }
}

/** For `aroundEach`: ends what a test started when it is over, and nothing of the tests beside it. */
export function ending(runTest: () => Promise<void>): Promise<void> {
  return scopes.run([], async () => {
    try {
      await runTest();
    } finally {
      await endAll();
    }
  });
}
