// A test runner for Stryker that imports the test files once and calls their functions again for each mutant, in one
// process. The runner for Vitest starts a thread and imports everything for each mutant, which takes a hundred times as
// long as the tests.
import { existsSync, globSync, readFileSync, writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { MutantCoverage } from '@stryker-mutator/api/core';
import { declareClassPlugin, PluginKind } from '@stryker-mutator/api/plugin';
import {
  type DryRunOptions,
  type DryRunResult,
  DryRunStatus,
  type MutantRunOptions,
  type MutantRunResult,
  MutantRunStatus,
  type TestResult,
  type TestRunner,
  TestStatus,
} from '@stryker-mutator/api/test-runner';
import fc from 'fast-check';
import type { CollectedTest } from './vitest-in-process.ts';

// One counterexample is enough: shrinking it takes too long.
fc.configureGlobal({ endOnFailure: true });

const replacement = new URL('./vitest-in-process.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'vitest' && context.parentURL !== replacement && !context.parentURL?.includes('/node_modules/')
      ? { url: replacement, shortCircuit: true }
      : next(specifier, context),
});
const { collect, prepare, runTest } = await import('./vitest-in-process.ts');

/** The global that instrumented code reads and writes. */
interface Instrumented {
  activeMutant?: string | undefined;
  currentTestId?: string | undefined;
  hitCount?: number | undefined;
  hitLimit?: number | undefined;
  mutantCoverage?: MutantCoverage;
}
const shared = globalThis as unknown as { __stryker__?: Instrumented };
shared.__stryker__ ??= {};
const instrumented = shared.__stryker__;

/** Fails the running test when an error is thrown where nothing awaits it. */
let onStray: ((error: unknown) => void) | undefined;
for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
  process.on(event, (error: unknown) => onStray?.(error));
}

const tickMs = 20;
let ticks = 0;
setInterval(() => ticks++, tickMs).unref();
// Tests may replace the clock and the timers.
const { setInterval: realSetInterval, clearInterval: realClearInterval } = globalThis;

/**
 * Rejects with `message` after this process has run for `ms` milliseconds. Time in which other processes keep it from
 * running does not count, so that a busy machine is not taken for a killed mutant.
 */
function giveUpAfter(ms: number, message: string): { late: Promise<never>; cancel(): void } {
  const end = ticks + ms / tickMs;
  const { promise: late, reject } = Promise.withResolvers<never>();
  const timer = realSetInterval(() => {
    if (ticks >= end) {
      reject(new Error(message));
    }
  }, tickMs);
  late.catch(() => {});
  return { late, cancel: () => realClearInterval(timer) };
}

/** Limit on the teardown of one test, in ms. */
const takeDownMs = 5_000;

/** Why a test fails, or undefined if it passes. A test that takes longer than this many milliseconds fails. */
async function failureOf(test: CollectedTest, ms: number): Promise<string | undefined> {
  const { late, cancel } = giveUpAfter(ms, `takes longer than ${ms} ms`);
  const stray = new Promise<never>((_, reject) => {
    onStray = reject;
  });
  const within = async (step: Promise<unknown>) => {
    const bound = giveUpAfter(takeDownMs, `is not taken down within ${takeDownMs} ms`);
    await Promise.race([step, bound.late]).finally(bound.cancel);
  };
  try {
    await runTest(test, Promise.race([stray, late]), within);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    onStray = undefined;
    cancel();
  }
}

/** Time limit of a test whose duration is not known yet, in ms. */
const firstMs = 60_000;
/**
 * Time limit of a test that took this long without a mutant, in ms: a mutant that makes it wait forever costs no more.
 */
const allowedMs = (durationMs: number) => Math.round(2_000 + 5 * durationMs);

/** Where the process of the first run records how long each test took, for the processes that Stryker starts later. */
const durationsFile = 'durations.json';

/** Stryker takes a mutant for an endless loop once it is reached this many times as often as in the first run. */
const hitLimitFactor = 100;
/**
 * This factor is enough here, in one test, although the first run counted all of them: each hit may take milliseconds.
 */
const endlessFactor = 3;

class InProcessRunner implements TestRunner {
  readonly #tests = new Map<string, CollectedTest>();
  /** How long each test took in the first run, in ms. */
  #durations = new Map<string, number>();
  /** How many mutants each test has killed: fast tests, and those that kill many, run first. */
  readonly #kills = new Map<string, number>();
  /** Whether this process must be replaced. */
  #isSpent = false;
  /** Whether no test has run in this process yet, so that nothing is cached. */
  #isFresh = true;

  capabilities() {
    return { reloadEnvironment: false };
  }

  async init(): Promise<void> {
    const patterns = JSON.parse(process.env.MUTATION_TESTS ?? '[]') as string[];
    const isExcluded = new Set(globSync(patterns.filter((one) => one.startsWith('!')).map((one) => one.slice(1))));
    const files = globSync(patterns.filter((one) => !one.startsWith('!'))).filter((file) => !isExcluded.has(file));
    for (const file of [...new Set(files)].sort()) {
      for (const test of await collect(file, pathToFileURL(resolve(file)).href)) {
        this.#tests.set(test.id, test);
      }
    }
  }

  async dryRun(_options: DryRunOptions): Promise<DryRunResult> {
    this.#isFresh = false;
    const tests: TestResult[] = [];
    for (const [id, test] of this.#tests) {
      await prepare(test);
      instrumented.currentTestId = id;
      const start = performance.now();
      let failureMessage = await failureOf(test, firstMs);
      const timeSpentMs = performance.now() - start;
      if (failureMessage === undefined) {
        // Coverage of this second run is deleted below: only the first run counts.
        instrumented.currentTestId = 'again';
        const again = await failureOf(test, firstMs);
        failureMessage = again && `fails when it is run a second time: ${again}`;
      }
      instrumented.currentTestId = undefined;
      const result = { id, name: test.name, timeSpentMs };
      this.#durations.set(id, timeSpentMs);
      tests.push(
        failureMessage === undefined
          ? { ...result, status: TestStatus.Success }
          : { ...result, status: TestStatus.Failed, failureMessage },
      );
    }
    writeFileSync(durationsFile, JSON.stringify([...this.#durations]));
    const { mutantCoverage = { static: {}, perTest: {} } } = instrumented;
    delete mutantCoverage.perTest.again;
    // Code that tests reach is charged to those tests; what also ran while files were imported does not run again for a
    // mutant.
    for (const id of new Set(Object.values(mutantCoverage.perTest).flatMap(Object.keys))) {
      delete mutantCoverage.static[id];
    }
    return { status: DryRunStatus.Complete, tests, mutantCoverage };
  }

  async mutantRun({ activeMutant, testFilter, hitLimit: strykers }: MutantRunOptions): Promise<MutantRunResult> {
    const expectedHits = strykers === undefined ? undefined : strykers / hitLimitFactor;
    const hitLimit = expectedHits === undefined ? undefined : expectedHits * endlessFactor;
    if (this.#isSpent) {
      // Stryker starts another process and tries again.
      throw new Error('to be run in another process');
    }
    const isFresh = this.#isFresh;
    this.#isFresh = false;
    if (this.#durations.size === 0 && existsSync(durationsFile)) {
      this.#durations = new Map(JSON.parse(readFileSync(durationsFile, 'utf8')));
    }
    let nrOfTests = 0;
    let hits = 0;
    const durationOf = (id: string) => this.#durations.get(id) ?? firstMs;
    const costOf = (id: string) => durationOf(id) / (1 + (this.#kills.get(id) ?? 0));
    const ids = [...(testFilter ?? this.#tests.keys())].sort((a, b) => costOf(a) - costOf(b));
    for (const id of ids) {
      const test = this.#tests.get(id) as CollectedTest;
      await prepare(test);
      nrOfTests++;
      Object.assign(instrumented, { activeMutant: activeMutant.id, hitCount: 0, hitLimit });
      const failureMessage = await failureOf(test, allowedMs(durationOf(id)));
      hits += instrumented.hitCount ?? 0;
      const isEndless = hitLimit !== undefined && (instrumented.hitCount ?? 0) > hitLimit;
      instrumented.activeMutant = undefined;
      if (isEndless) {
        return { status: MutantRunStatus.Timeout, reason: `reached more than ${hitLimit} times` };
      }
      if (failureMessage !== undefined) {
        // A mutant, this one or an earlier one, may leave state behind that makes tests fail even without it.
        this.#isSpent = (await failureOf(test, allowedMs(durationOf(id)))) !== undefined;
        if (this.#isSpent && !isFresh) {
          break;
        }
        this.#kills.set(id, (this.#kills.get(id) ?? 0) + 1);
        return { status: MutantRunStatus.Killed, killedBy: [id], failureMessage, nrOfTests };
      }
    }
    // Code that ran far less often than in the first run uses results cached since then.
    this.#isSpent ||= expectedHits !== undefined && hits < expectedHits / 2;
    if (this.#isSpent && !isFresh) {
      throw new Error('to be run in another process');
    }
    return { status: MutantRunStatus.Survived, nrOfTests };
  }
}

export const strykerPlugins = [declareClassPlugin(PluginKind.TestRunner, 'in-process', InProcessRunner)];
