import type { Context, Environment, ParseResult } from '@marcbachmann/cel-js';
import { LruCache } from '../../base/index.ts';
import { compilePattern, type Pattern, weightOfPattern } from '../schema/index.ts';
import { library } from './library.ts';

/** Maximum cost of one evaluation of an expression (apiserver, cel.PerCallLimit): "roughly 0.1 second". */
const perCall = 1_000_000;
/** Maximum cost of all rules for one object (apiserver, cel.RuntimeCELCostBudget). */
export const rulesBudget = 10_000_000;
/** Maximum cost of the matchConditions of one webhook (apiserver, cel.RuntimeCELCostBudgetMatchConditions). */
export const matchConditionsBudget = 2_500_000;

/** An expression was stopped because it, together with those before it, cost too much. */
export class CostError extends Error {
  /** Whether the budget for all expressions is used up. */
  readonly isSpent: boolean;

  constructor(isSpent: boolean) {
    super(
      isSpent
        ? 'validation failed due to running out of cost budget, no further validation rules will be run'
        : 'operation cancelled: actual cost limit exceeded',
    );
    this.isSpent = isSpent;
  }
}

/** The budget for expressions: as in the API server, a step costs 1, and reading a text a tenth of its length. */
export interface Budget {
  left: number;
  /** Number of characters of expressions that were compiled for these evaluations; it has a maximum of its own. */
  compiled?: number;
}

/** A node of a parsed expression, as the library's evaluator walks it. */
interface Node {
  op: string;
  args: unknown;
  meta: { alternate?: Node; macro?: unknown };
  evaluate(evaluator: Evaluator, node: Node, context: unknown): unknown;
}

interface Evaluator {
  run(node: Node, context: unknown): unknown;
  tryEval(node: Node, context: unknown): unknown;
}

/** The meter's data about a node. */
interface Plan {
  /** The operation that this node performs. */
  operation: Operation | undefined;
  /** The operation that this node is an operand of, and its index there. */
  user: Operation | undefined;
  index: number;
  isLearned: boolean;
}

/** The operands of an operation whose cost depends on their size. */
interface Operation {
  name: string;
  count: number;
  /** Number of operands that have not been evaluated yet. */
  missing: number;
  values: unknown[];
}

const weights = new WeakMap<object, number>();

/** The size of a value. Values do not change during an evaluation. */
function weightOf(value: unknown): number {
  if (typeof value === 'string') {
    return 1 + value.length / 10;
  }
  if (value instanceof Uint8Array) {
    return 1 + value.length / 10;
  }
  if (typeof value !== 'object' || value === null || value instanceof Date) {
    return 1;
  }
  let weight = weights.get(value);
  if (weight === undefined) {
    const inside = Array.isArray(value) ? value : value instanceof Map ? value.values() : Object.values(value);
    weight = 1;
    for (const item of inside) {
      weight += weightOf(item);
    }
    weights.set(value, weight);
  }
  return weight;
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' || Array.isArray(value) ? value.length : 0;
}

/** Operators that read all of their operands. */
const readingOperators = new Set(['==', '!=', 'in', '+', '<', '<=', '>', '>=']);

/** Functions that parse a text, with the length of the longest text that can be valid. */
const readers = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const maxRead = 256;

/** The cost of an operation in addition to its step. */
function costOf({ name, values }: Operation): number {
  const [a, b] = values;
  switch (name) {
    case '==':
    case '!=':
      return Math.min(weightOf(a), weightOf(b));
    case 'in':
      return Array.isArray(b) ? weightOf(b) : 1;
    case '+':
      return values.reduce<number>((sum, value) => sum + lengthOf(value) / (typeof value === 'string' ? 10 : 1), 0);
    case 'contains':
    case 'indexOf':
    case 'lastIndexOf':
    case 'split':
      return lengthOf(a) / 10 + (lengthOf(a) * lengthOf(b)) / 100;
    case 'join':
      return weightOf(a) + (lengthOf(a) * lengthOf(b)) / 10;
    case 'size':
      return typeof a === 'string' ? weightOf(a) : 1;
    default:
      return values.reduce<number>((sum, value) => sum + weightOf(value), 0);
  }
}

/** Cost of an error that an expression absorbs: creating an error takes that many times longer than a step. */
const errorCost = 20;

/** Maximum weight of the compiled patterns of `matches` that are kept: less than ten megabytes, or one that is larger. */
const maxPatterns = 20_000;
/** The patterns that were used lately: only compiling one anew is charged. */
const patterns = new LruCache(maxPatterns, (source, pattern: Pattern) =>
  Math.min(maxPatterns, weightOfPattern(source, pattern)),
);

/** The evaluator of an environment, which is passed to the nodes of an expression. */
function evaluatorOf(environment: Environment): Evaluator {
  const probe = environment.parse('true');
  let found: Evaluator | undefined;
  (probe.ast as unknown as Node).evaluate = (evaluator) => {
    found = evaluator;
    return true;
  };
  probe();
  if (found === undefined) {
    throw new Error('the evaluator of @marcbachmann/cel-js is not where it was');
  }
  return found;
}

/**
 * Counts the cost of expressions while they are evaluated, and stops those that cost too much. The library limits the
 * size of an expression but not its work, so every step of its evaluator goes through here.
 */
export class Meter {
  readonly #environment: Environment;
  readonly #plans = new WeakMap<Node, Plan>();
  #budget: Budget = { left: 0 };
  /** The remaining budget of the current evaluation. */
  #left = 0;

  constructor(environment: Environment) {
    this.#environment = environment;
    const evaluator = evaluatorOf(environment);
    evaluator.run = (node, context) => this.#run(evaluator, node, context);
    const { tryEval } = evaluator;
    evaluator.tryEval = (node, context) => {
      const result = tryEval.call(evaluator, node, context);
      // `all`, `exists`, `&&` and `||` continue after an error, but must not after this one.
      if (result instanceof CostError) {
        throw result;
      }
      if (result instanceof Error) {
        this.#spend(errorCost);
      }
      return result;
    };
  }

  /** Compiles an expression that the environment has found valid. */
  compile(expression: string): ParseResult {
    // Wrapped in another expression, so that every step of it is metered.
    return this.#environment.parse(`[${expression}\n][0]`);
  }

  /**
   * Evaluates the result of `compile`.
   *
   * @throws {CostError} when it costs more than a single evaluation may, or than is left in the budget.
   * @throws {EvaluationError} when the expression itself fails.
   */
  evaluate(expression: ParseResult, variables: Context, budget: Budget): unknown {
    if (budget.left <= 0) {
      throw new CostError(true);
    }
    this.#budget = budget;
    this.#left = Math.min(perCall, budget.left);
    const before = this.#left;
    const { stackTraceLimit } = Error;
    // Expressions absorb errors by the ten thousand, and two thirds of the time for each would go into an unused stack
    // trace.
    Error.stackTraceLimit = 0;
    try {
      return expression(variables);
    } catch (error) {
      if (error instanceof RangeError) {
        // A text longer than JavaScript allows, or calls nested too deeply.
        throw new (library().EvaluationError)(error.message);
      }
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
      budget.left -= before - this.#left;
    }
  }

  #spend(cost: number): void {
    this.#left -= cost;
    if (this.#left < 0) {
      throw new CostError(this.#budget.left < perCall);
    }
  }

  #run(evaluator: Evaluator, node: Node, context: unknown): unknown {
    this.#spend(1);
    // One lookup per step: this runs a million times for an expression that is stopped.
    let plan = this.#plans.get(node);
    if (plan === undefined || !plan.isLearned) {
      plan = this.#learn(node);
    }
    const { operation } = plan;
    if (operation !== undefined) {
      operation.missing = operation.count;
    }
    const value =
      operation?.name === 'matches' ? this.#matches(evaluator, node, context) : node.evaluate(evaluator, node, context);
    if (plan.user !== undefined) {
      this.#note(plan.user, plan.index, value);
    }
    return value;
  }

  /** Receives an operand. With the last one, the operation begins and its cost is charged. */
  #note(operation: Operation, index: number, value: unknown): void {
    operation.values[index] = value;
    operation.missing--;
    if (operation.missing > 0) {
      return;
    }
    if (readers.has(operation.name) && lengthOf(operation.values[0]) > maxRead) {
      throw new (library().EvaluationError)(`${operation.name}(): the string is longer than ${maxRead} characters`);
    }
    this.#spend(costOf(operation));
    // Computed values must not stay in memory as long as the expression does.
    operation.values.fill(undefined);
  }

  /** The plan of a node, created by the node itself or by the node that it is an operand of, whichever comes first. */
  #planOf(node: Node): Plan {
    let plan = this.#plans.get(node);
    if (plan === undefined) {
      plan = { operation: undefined, user: undefined, index: 0, isLearned: false };
      this.#plans.set(node, plan);
    }
    return plan;
  }

  /** Finds the operands of an operation. */
  #learn(node: Node): Plan {
    const plan = this.#planOf(node);
    plan.isLearned = true;
    if (node.meta.alternate !== undefined || node.meta.macro !== undefined) {
      return plan;
    }
    const { op, args } = node;
    let name = op;
    let operands: Node[] = [];
    if (op === 'call') {
      [name, operands] = args as [string, Node[]];
    } else if (op === 'rcall') {
      const [called, receiver, others] = args as [string, Node, Node[]];
      name = called;
      operands = [receiver, ...others];
    } else if (readingOperators.has(op)) {
      operands = args as Node[];
    }
    if (operands.length > 0) {
      const values = operands.map(() => undefined);
      const operation: Operation = { name, count: operands.length, missing: operands.length, values };
      plan.operation = operation;
      for (const [index, operand] of operands.entries()) {
        Object.assign(this.#planOf(operand), { user: operation, index });
      }
    }
    return plan;
  }

  /** CEL's `matches` uses RE2; the library's uses JavaScript's regular expressions, which backtrack. */
  #matches(evaluator: Evaluator, node: Node, context: unknown): boolean {
    const [, receiver, others] = node.args as [string, Node, Node[]];
    const text = evaluator.run(receiver, context);
    const source = evaluator.run(others[0] as Node, context);
    if (typeof text !== 'string' || typeof source !== 'string' || others.length !== 1) {
      throw new (library().EvaluationError)("found no matching overload for 'matches'");
    }
    let pattern = patterns.get(source);
    if (pattern === undefined) {
      this.#spend(500);
      try {
        pattern = compilePattern(source);
      } catch (error) {
        throw new (library().EvaluationError)((error as Error).message);
      }
      this.#spend(pattern.size * 50);
      patterns.set(source, pattern);
    }
    this.#spend((text.length * pattern.size) / 10);
    return pattern.test(text);
  }
}
