// What test files import as 'vitest' under mutation: the real `expect` and `vi`, and a `test` that keeps each test as a
// function.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, expectTypeOf, type ProvidedContext, type TestOptions, vi as vitests } from 'vitest';

export { expect, expectTypeOf };

let runFolder: string | undefined;

/** What test/support/run-folder.ts provides: here a folder of this process, made on first use. */
export function inject<Key extends keyof ProvidedContext>(_key: Key): ProvidedContext[Key] {
  if (runFolder === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'mutation-run-'));
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
    runFolder = folder;
  }
  return runFolder;
}

/** Longest wait, in ms: with a mutant many waits never succeed. Without one they take some hundredths of this. */
const maxWaitMs = 3_000;

/** Vitest's own `vi.waitFor` asks for its worker, and there is none here. */
async function waitFor<T>(run: () => T | Promise<T>, { timeout = 1000, interval = 50 } = {}): Promise<T> {
  for (const end = performance.now() + Math.min(timeout, maxWaitMs); ; await sleep(interval)) {
    try {
      return await run();
    } catch (error) {
      if (performance.now() > end) {
        throw error;
      }
    }
  }
}
async function waitUntil(isSo: () => boolean | Promise<boolean>): Promise<void> {
  await waitFor(async () => expect(await isSo()).toBe(true));
}
export const vi = Object.assign(Object.create(vitests) as typeof vitests, { waitFor, waitUntil });

type Run = () => unknown;
type Body = (context: object) => unknown;
type Around = (run: () => Promise<void>, context: object) => unknown;

/** A describe block, or a file. */
interface Suite {
  name: string;
  parent: Suite | undefined;
  isSkipped: boolean;
  before: Run[];
  beforeEach: Run[];
  afterEach: Run[];
  aroundEach: Around[];
}

/** A test that can run any number of times. */
export interface CollectedTest {
  id: string;
  name: string;
  suite: Suite;
  body: Body;
}

const collected: CollectedTest[] = [];
let suite: Suite | undefined;
let finished: Run[] = [];

const newSuite = (name: string, parent?: Suite, isSkipped = false): Suite => ({
  name,
  parent,
  isSkipped: isSkipped || parent?.isSkipped === true,
  before: [],
  beforeEach: [],
  afterEach: [],
  aroundEach: [],
});

/** Imports a test file and returns its tests. */
export async function collect(file: string, url: string): Promise<CollectedTest[]> {
  collected.length = 0;
  suite = newSuite(file);
  await import(url);
  return [...collected];
}

function current(): Suite {
  if (suite === undefined) {
    throw new Error('a test or hook outside of a test file');
  }
  return suite;
}

const split = <T>(a: unknown, b: unknown): [TestOptions, T] =>
  typeof a === 'function' ? [{}, a as T] : [a as TestOptions, b as T];

function define(name: string, a: unknown, b?: unknown, parameters: readonly unknown[] = []): void {
  const [options, body] = split<(...all: unknown[]) => unknown>(a, b);
  const of = current();
  if (!of.isSkipped && options.skip !== true) {
    const path: string[] = [];
    for (let at: Suite | undefined = of; at !== undefined; at = at.parent) {
      path.unshift(at.name);
    }
    const full = [...path, name].join(' > ');
    collected.push({
      id: `${collected.length} ${full}`,
      name: full,
      suite: of,
      body: (context) => (parameters.length > 0 ? body(...parameters) : body(context)),
    });
  }
}

function group(name: string, a: unknown, b?: unknown, parameters: readonly unknown[] = []): void {
  const [options, body] = split<(...all: unknown[]) => unknown>(a, b);
  const outer = current();
  suite = newSuite(name, outer, options.skip === true);
  body(...parameters);
  suite = outer;
}

type Definer = (name: string, a: unknown, b?: unknown, parameters?: readonly unknown[]) => void;
const each = (definer: Definer) => (rows: readonly unknown[]) => (name: string, a: unknown, b?: unknown) => {
  for (const row of rows) {
    definer(name, a, b, Array.isArray(row) ? row : [row]);
  }
};

/** Like `each`, but a row is passed as one argument, followed by the context of the test. */
const forRows = (definer: Definer) => (rows: readonly unknown[]) => (name: string, a: unknown, b?: unknown) => {
  const [options, body] = split<(row: unknown, context?: object) => unknown>(a, b);
  for (const row of rows) {
    definer(name, options, (context?: object) => body(row, context));
  }
};

const skipped = Object.assign(() => {}, { each: () => () => {}, for: () => () => {} });

function definer(of: Definer) {
  const run = Object.assign((name: string, a: unknown, b?: unknown) => of(name, a, b), {
    each: each(of),
    for: forRows(of),
  });
  return Object.assign(run, {
    // Run one after the other: only one mutant can be active at a time.
    concurrent: run,
    skip: skipped,
    skipIf: (isSkipped: unknown) => (isSkipped ? skipped : run),
    runIf: (isRun: unknown) => (isRun ? run : skipped),
  });
}

export const test = definer(define);
export const describe = definer(group);
export const beforeAll = (run: Run) => void current().before.push(run);
export const beforeEach = (run: Run) => void current().beforeEach.push(run);
export const aroundEach = (run: Around) => void current().aroundEach.push(run);
export const afterEach = (run: Run) => void current().afterEach.push(run);
/** What a file sets up stays until the process ends: the next mutant needs it, too. */
export const afterAll = (_run: Run) => {};
export const onTestFinished = (run: Run) => void finished.unshift(run);

function suitesOf({ suite: of }: CollectedTest): Suite[] {
  const all: Suite[] = [];
  for (let at: Suite | undefined = of; at !== undefined; at = at.parent) {
    all.unshift(at);
  }
  return all;
}

/** Runs the `beforeAll` hooks of a test, once. */
export async function prepare(one: CollectedTest): Promise<void> {
  for (const { before } of suitesOf(one)) {
    for (const run of before.splice(0)) {
      await run();
    }
  }
}

/**
 * Runs a test; throws if it fails. Its teardown always runs, even while a test that was given up is still waiting for
 * something.
 *
 * @param stopped rejects when the test is given up.
 * @param within bounds a step of the teardown.
 */
export async function runTest(
  one: CollectedTest,
  stopped: Promise<never>,
  within: (step: Promise<unknown>) => Promise<unknown>,
): Promise<void> {
  const suites = suitesOf(one);
  finished = [];
  const context = { expect, onTestFinished };
  async function body(): Promise<void> {
    for (const run of suites.flatMap((each) => each.beforeEach)) {
      await run();
    }
    await one.body(context);
  }
  const whole = suites
    .flatMap((each) => each.aroundEach)
    .reduceRight<() => Promise<void>>(
      (run, around) => async () => void (await around(run, context)),
      () => Promise.race([body(), stopped]),
    );
  try {
    const done = whole();
    // Teardown of a test that was given up runs in the blocks around it.
    await Promise.race([
      done,
      stopped.catch((error) => within(done.catch(() => {})).then(() => Promise.reject(error))),
    ]);
  } finally {
    for (const run of [...suites.reverse().flatMap((each) => each.afterEach), ...finished]) {
      await within(Promise.resolve(run()));
    }
  }
}
