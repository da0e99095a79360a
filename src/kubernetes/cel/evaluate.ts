import { createContext, Script } from 'node:vm';
import { type ASTNode, type Context, type Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { compilePattern } from '../schema/index.ts';

/** How long expressions may still be evaluated, in ms of the CPU: those of an object, a webhook, or a set of definitions. */
export interface Budget {
  leftMs: number;
}

/** How long all rules of an object may take, in ms of the CPU: for the API server "roughly" 1 s. */
export const maxRulesMs = 2_000;

/** Expressions took too long: what an API server says about their cost. */
export class OutOfTime extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

const script = new Script('work()');
const context: { work?: () => unknown } = createContext({});

/** What this thread has used of the CPU, in ms: also in turns with other programs, which must not decide a verdict. */
function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}

/**
 * Does work within what is left of a budget. Node's limit is one of the clock: work that it interrupts before the
 * budget is used up, because the machine is busy, is done again from its beginning with a later limit.
 *
 * @throws {OutOfTime} when it takes longer; it is then interrupted wherever it is.
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
  throw new OutOfTime();
}

/** Longest text that is read as a duration, in characters: for longer ones the library's reader takes quadratic time. */
const maxDuration = 256;

/**
 * An expression whose functions take linear time: RE2's `matches` instead of JavaScript's regular expressions, which
 * backtrack, and durations of limited length.
 */
function inLinearTime(expression: string, environment: Environment): string {
  const edits: { from: number; to: number; text: string }[] = [];
  const look = (part: unknown): void => {
    if (Array.isArray(part)) {
      part.forEach(look);
      return;
    }
    if (typeof part !== 'object' || part === null || !('op' in part) || !('args' in part)) {
      return;
    }
    const { op, args } = part as ASTNode;
    if (op === 'rcall' && args[0] === 'matches') {
      const from = expression.indexOf('matches', args[1].range.end);
      edits.push({ from, to: from + 'matches'.length, text: 'matchesRe2' });
    } else if (op === 'call' && args[0] === 'duration' && args[1][0] !== undefined) {
      const { start, end } = args[1][0].range;
      edits.push({ from: start, to: start, text: 'shortText(' }, { from: end, to: end, text: ')' });
    }
    look(args);
  };
  look(environment.parse(expression).ast);
  return edits
    .sort((a, b) => b.from - a.from)
    .reduce((text, { from, to, text: inserted }) => text.slice(0, from) + inserted + text.slice(to), expression);
}

/** Maximum number of characters of compiled expressions that are kept: each takes up to 130 bytes when compiled. */
const maxCompiled = 400_000;

/**
 * Evaluates expressions of an environment; the result is undefined for those that this engine cannot evaluate.
 *
 * @throws {Error} from the returned function, when the expression itself fails.
 */
export function createEvaluator(environment: Environment): (expression: string, variables: Context) => unknown {
  const evaluating = environment.clone();
  evaluating.registerFunction(
    'shortText(dyn): dyn',
    (text: unknown) => {
      if (typeof text === 'string' && text.length > maxDuration) {
        throw new EvaluationError(`duration(): the string is longer than ${maxDuration} characters`);
      }
      return text;
    },
    { async: false },
  );
  evaluating.registerFunction(
    'string.matchesRe2(string): bool',
    (text: string, source: string) => {
      try {
        return compilePattern(source).test(text);
      } catch (error) {
        throw new EvaluationError((error as Error).message);
      }
    },
    { async: false },
  );
  const compiled = new LRUCache<string, { program: ParseResult | undefined }>({
    maxSize: maxCompiled,
    sizeCalculation: (_, { length }) => 1 + length,
  });
  return (expression, variables) => {
    let known = compiled.get(expression);
    if (known === undefined) {
      const isKnown = environment.check(expression).valid;
      const text = isKnown && /matches|duration/.test(expression) ? inLinearTime(expression, environment) : expression;
      known = { program: isKnown ? evaluating.parse(text) : undefined };
      compiled.set(expression, known);
    }
    return known.program?.(variables);
  };
}

/** Why an expression fails, in one line. */
export function failureOf(error: unknown): string {
  return error instanceof EvaluationError ? error.summary : (error as Error).message;
}
