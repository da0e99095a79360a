import { createContext, Script } from 'node:vm';
import { type ASTNode, type Context, type Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { compilePattern } from '../schema/index.ts';
import { maxDuration } from './cel.ts';
import { counted, maxCallCost, sizeOf } from './cost.ts';

/** How long expressions may still be evaluated, in ms of the CPU: those of an object, a webhook, or a set of definitions. */
export interface Budget {
  leftMs: number;
}

/** How long all rules of an object may take, in ms of the CPU: the last resort, which decides no verdict. */
export const maxRulesMs = 2_000;

/** Expressions that were not evaluated to their end. What an API server says of them is not known here. */
export class NotEvaluated extends Error {}

/** What expressions may still cost, as Kubernetes counts it. */
export interface Cost {
  left: number;
}

const script = new Script('work()');
const context: { work?: () => unknown } = createContext({});

/** What this thread has used of the CPU, in ms: also in turns with other programs, which must not decide a verdict. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Does work within what is left of a budget. Node's limit is one of the clock: work that it interrupts too early, because the
 * machine is busy, is done again with a later limit. @throws {NotEvaluated} when it takes longer.
 */
export function within<T>(budget: Budget, work: () => T): T {
  for (let timeout = Math.ceil(budget.leftMs); budget.leftMs >= 1; timeout *= 2) {
    const started = cpuMs();
    let isInterrupted = false;
    try {
      context.work = work;
      return script.runInContext(context, { timeout }) as T;
    } catch (error) {
      isInterrupted = (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';
      if (!isInterrupted) {
        throw error;
      }
    } finally {
      const used = cpuMs() - started;
      if (!isInterrupted) {
        budget.leftMs -= used;
      } else if (used > budget.leftMs * 0.9) {
        budget.leftMs = 0;
      }
    }
  }
  throw new NotEvaluated('could not be evaluated in time');
}

/** Maximum number of characters of compiled expressions that are kept: each takes up to 130 bytes when compiled. */
const maxCompiled = 400_000;

type Visit = (part: ASTNode, context: unknown) => unknown;

/** Not known is only what may cost more: what is counted may be more than in Kubernetes, and is never less. */
const tooExpensive = () =>
  new NotEvaluated(`was not evaluated: its cost may exceed the limits of Kubernetes (${maxCallCost} an expression)`);

/** Evaluates an expression. @throws {NotEvaluated} when it may cost more than is left, or than one may. */
export type Evaluate = (expression: string, variables: Context, cost: Cost) => unknown;

/** Evaluates expressions of an environment, and counts their cost; undefined for those that this engine cannot evaluate. */
export function createEvaluator(environment: Environment): Evaluate {
  let spent = 0;
  const spend = (cost: number): void => {
    spent += cost;
    if (spent > maxCallCost) {
      throw tooExpensive();
    }
  };
  const functions: Readonly<Record<string, (first: unknown, second: unknown) => unknown>> = {
    'sized_(double, dyn): dyn': (factor, value) => {
      spend(Math.ceil(Number(factor) * sizeOf(value)));
      return value;
    },
    'listed_(dyn): dyn': (value) => {
      spend(Array.isArray(value) ? value.length : 0);
      return value;
    },
    'shortText(dyn): dyn': (text) => {
      if (typeof text === 'string' && text.length > maxDuration) {
        throw new EvaluationError(`duration(): the string is longer than ${maxDuration} characters`);
      }
      return text;
    },
    'string.containsCounted(string): bool': (text, part) => {
      spend(Math.ceil(sizeOf(text) / 10) * Math.ceil(sizeOf(part) / 10));
      return (text as string).includes(part as string);
    },
    // RE2's `matches` instead of JavaScript's regular expressions, which backtrack.
    'string.matchesCounted(string): bool': (text, source) => {
      spend(Math.ceil((1 + sizeOf(text)) / 10) * Math.ceil(sizeOf(source) / 4));
      try {
        return compilePattern(source as string).test(text as string);
      } catch (error) {
        throw new EvaluationError((error as Error).message);
      }
    },
  };
  const evaluating = environment.clone();
  // Before the body, which is not evaluated then: loops around it hide errors, and go on.
  evaluating.registerFunction('steps_(int, ast): dyn', ({ args: [cost, body] }: { args: [ASTNode, ASTNode] }) => ({
    async: false,
    typeCheck: (checker: { check: Visit }, _macro: unknown, context: unknown) => checker.check(body, context),
    evaluate(evaluator: { run: Visit }, _macro: unknown, context: unknown) {
      spend(Number(cost.args));
      return evaluator.run(body, context);
    },
  }));
  for (const [signature, handler] of Object.entries(functions)) {
    evaluating.registerFunction(signature, handler, { async: false });
  }
  const compiled = new LRUCache<string, { program: ParseResult | undefined; cost: number }>({
    maxSize: maxCompiled,
    sizeCalculation: (_, { length }) => 1 + length,
  });
  return (expression, variables, cost) => {
    let known = compiled.get(expression);
    if (known === undefined) {
      const isKnown = environment.check(expression).valid;
      const { text, cost: once } = isKnown ? counted(expression, environment) : { text: '', cost: 0 };
      known = { program: isKnown ? evaluating.parse(text) : undefined, cost: once };
      compiled.set(expression, known);
    }
    spent = known.cost;
    try {
      return known.program?.(variables);
    } finally {
      cost.left -= spent;
      // Also where an alternative hides the error of what was too expensive.
      if (spent > maxCallCost || cost.left < 0) {
        // biome-ignore lint/correctness/noUnsafeFinally: it replaces whatever came of the expression
        throw tooExpensive();
      }
    }
  };
}

export function failureOf(error: unknown): string {
  return error instanceof EvaluationError ? error.summary : (error as Error).message;
}
