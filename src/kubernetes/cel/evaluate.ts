import { createContext, Script } from 'node:vm';
import { type Context, type Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { compilePattern } from '../schema/index.ts';

/** How long expressions may still be evaluated, in ms: those of an object, a webhook, or a set of definitions. */
export interface Budget {
  leftMs: number;
}

/** How long all rules of an object may take, in ms: for the API server "roughly" 1 s, here also on a busy machine. */
export const maxRulesMs = 2_000;

/** Expressions took too long: what an API server says about their cost. */
export class OutOfTime extends Error {
  constructor() {
    super('validation failed due to running out of cost budget, no further validation rules will be run');
  }
}

const script = new Script('work()');
const context: { work?: () => unknown } = createContext({});

/**
 * Does work within what is left of a budget.
 *
 * @throws {OutOfTime} when it takes longer; it is then interrupted wherever it is.
 */
export function within<T>(budget: Budget, work: () => T): T {
  const started = performance.now();
  try {
    if (budget.leftMs < 1) {
      throw new OutOfTime();
    }
    context.work = work;
    return script.runInContext(context, { timeout: Math.ceil(budget.leftMs) }) as T;
  } catch (error) {
    throw (error as NodeJS.ErrnoException).code === 'ERR_SCRIPT_EXECUTION_TIMEOUT' ? new OutOfTime() : error;
  } finally {
    budget.leftMs -= performance.now() - started;
  }
}

/** An expression with RE2's `matches`: the library's uses JavaScript's regular expressions, which backtrack. */
function withRe2(expression: string, environment: Environment): string {
  const ends: number[] = [];
  const look = (part: unknown): void => {
    if (Array.isArray(part)) {
      part.forEach(look);
    } else if (typeof part === 'object' && part !== null && 'op' in part && 'args' in part) {
      if (part.op === 'rcall' && Array.isArray(part.args) && part.args[0] === 'matches') {
        ends.push((part.args[1] as { range: { end: number } }).range.end);
      }
      look(part.args);
    }
  };
  look(environment.parse(expression).ast);
  let text = expression;
  for (const end of ends.sort((a, b) => b - a)) {
    const at = text.indexOf('matches', end);
    text = `${text.slice(0, at)}matchesRe2${text.slice(at + 'matches'.length)}`;
  }
  return text;
}

/** Maximum number of characters of compiled expressions that are kept: each takes up to 130 bytes when compiled. */
const maxCompiled = 400_000;

/**
 * Evaluates expressions of an environment; the result is undefined for those that this engine cannot evaluate.
 *
 * @throws {Error} from the returned function, when the expression itself fails.
 */
export function createEvaluator(environment: Environment): (expression: string, variables: Context) => unknown {
  const evaluating = environment.clone().registerFunction(
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
      const text = isKnown && expression.includes('matches') ? withRe2(expression, environment) : expression;
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
