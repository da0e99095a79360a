import { type ASTNode, type Context, type Environment, EvaluationError, type ParseResult } from '@marcbachmann/cel-js';
import { LRUCache } from 'lru-cache';
import { compilePattern, type Pattern } from '../schema/index.ts';

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

/** An operation whose cost depends on the size of its operands. */
interface Operation {
  name: string;
  /** The operands before the evaluation: literals are known, others are `unknown`. */
  before: readonly unknown[];
  /** Those that are known by now. */
  operands: unknown[];
}

const unknown = Symbol('unknown');

/** A part of an expression that is charged when it has been evaluated. */
interface Step {
  /** The operation that it is an operand of, and its index there. */
  operation: Operation | undefined;
  index: number;
  /** The evaluation in which the part was begun and has not ended, if the expression survives its failure. */
  openIn: number;
}

/** Cost of an error that an expression absorbs: creating an error takes that many times longer than a step. */
const errorCost = 20;

/** Functions that parse a text, with the length of the longest text that can be valid. */
const readers = new Set(['bool', 'double', 'duration', 'int', 'timestamp', 'uint']);
const maxRead = 256;

/** Operators that read all of their operands. */
const readingOperators = new Set(['==', '!=', 'in', '+', '<', '<=', '>', '>=']);

/** Macros that evaluate their arguments for each item; the first argument names the item. */
const loops = new Set(['all', 'exists', 'exists_one', 'filter', 'map']);
/** Loops that continue after an error. */
const absorbing = new Set(['all', 'exists']);

/** Names with functions that are not values themselves. */
const namespaces = new Set(['cel', 'optional']);

const weights = new WeakMap<object, number>();

/** The size of a value. Values do not change during an evaluation. */
function weightOf(value: unknown): number {
  if (typeof value === 'string' || value instanceof Uint8Array) {
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

/** The cost of an operation in addition to its step. */
function costOf(name: string, operands: readonly unknown[]): number {
  const [a, b] = operands;
  switch (name) {
    case '==':
    case '!=':
      return Math.min(weightOf(a), weightOf(b));
    case 'in':
      return Array.isArray(b) ? weightOf(b) : 1;
    case '+':
      return operands.reduce<number>((sum, value) => sum + lengthOf(value) / (typeof value === 'string' ? 10 : 1), 0);
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
      return operands.reduce<number>((sum, value) => sum + weightOf(value), 0);
  }
}

/**
 * Writes an expression again with calls that report each of its parts: `step` when it has been evaluated; `enter` and
 * `leave` around one whose failure the expression survives.
 */
class Instrumentation {
  readonly steps: Step[] = [];

  /** A part of the expression; an operand if `operation` is given. */
  part(node: ASTNode, operation?: Operation, index = 0): string {
    if (node.op === 'value') {
      return asWritten(node);
    }
    return `step(${this.#add(operation, index)}, ${this.#text(node)})`;
  }

  #add(operation?: Operation, index = 0): number {
    return this.steps.push({ operation, index, openIn: 0 }) - 1;
  }

  #parts(nodes: readonly ASTNode[]): string[] {
    return nodes.map((node) => this.part(node));
  }

  #operands(name: string, nodes: readonly ASTNode[]): string[] {
    const before = nodes.map((node) => (node.op === 'value' ? node.args : unknown));
    const operation: Operation = { name, before, operands: [...before] };
    return nodes.map((node, index) => this.part(node, operation, index));
  }

  /** A part whose failure the expression survives. */
  #survived(node: ASTNode): string {
    const number = this.#add();
    return `(enter(${number}) ? leave(${number}, ${this.part(node)}) : dyn(false))`;
  }

  #text(node: ASTNode): string {
    switch (node.op) {
      case 'value':
      case 'id':
        return asWritten(node);
      case '.':
      case '.?':
        return `${this.part(node.args[0])}${node.op}${node.args[1]}`;
      case '[]':
      case '[?]': {
        const [list, index] = this.#parts(node.args);
        return `${list}${node.op.slice(0, -1)}${index}]`;
      }
      case 'call':
        return this.#call(node.args[0], node.args[1], node);
      case 'rcall':
        return this.#method(...node.args);
      case 'list':
        return `[${this.#parts(node.args).join(', ')}]`;
      case 'map':
        return `{${node.args.map((entry) => this.#parts(entry).join(': ')).join(', ')}}`;
      case '?:': {
        const [condition, ...values] = this.#parts(node.args);
        return `(${condition} ? ${values.map((value) => `dyn(${value})`).join(' : ')})`;
      }
      case '||':
      case '&&':
        return `(${chained(node)
          .map((operand) => this.#survived(operand))
          .join(` ${node.op} `)})`;
      case '!_':
      case '-_':
        return `(${node.op.slice(0, 1)}${this.part(node.args)})`;
      default: {
        const operands = readingOperators.has(node.op) ? this.#operands(node.op, node.args) : this.#parts(node.args);
        return `(${operands.join(` ${node.op} `)})`;
      }
    }
  }

  #call(name: string, args: readonly ASTNode[], node: ASTNode): string {
    // The argument of `has` must be a path.
    return name === 'has' ? asWritten(node) : `${name}(${this.#operands(name, args).join(', ')})`;
  }

  #method(name: string, receiver: ASTNode, args: readonly ASTNode[]): string {
    const [first, ...others] = args;
    if (loops.has(name) && first?.op === 'id') {
      const parts = absorbing.has(name) ? others.map((body) => this.#survived(body)) : this.#parts(others);
      return `${this.part(receiver)}.${name}(${[first.args, ...parts].join(', ')})`;
    }
    if (receiver.op === 'id' && namespaces.has(receiver.args)) {
      const isBind = name === 'bind' && first?.op === 'id';
      const parts = isBind ? [first.args, ...this.#parts(others)] : this.#parts(args);
      return `${receiver.args}.${name}(${parts.join(', ')})`;
    }
    const [value = '', ...parts] = this.#operands(name, [receiver, ...args]);
    return name === 'matches' ? `matchesRe2(${[value, ...parts].join(', ')})` : `${value}.${name}(${parts.join(', ')})`;
  }
}

/** Of literals and names: the library's own serializer rounds small numbers. */
function asWritten(node: ASTNode): string {
  return node.input.slice(node.range.start, node.range.end);
}

/** The operands of a chain such as `a && b && c`, which may be too long for a call for each. */
function chained(node: ASTNode & { op: '||' | '&&' }): ASTNode[] {
  const operands: ASTNode[] = [];
  let left: ASTNode = node;
  while (left.op === node.op) {
    const [next, right] = left.args as [ASTNode, ASTNode];
    operands.push(right);
    left = next;
  }
  return [left, ...operands.reverse()];
}

/** An error of JavaScript (a text longer than it allows, calls nested too deeply) as one of the expression. */
function evaluationError(error: unknown): unknown {
  return error instanceof RangeError ? new EvaluationError(error.message) : error;
}

/** A compiled expression, whose steps are charged. */
interface MeteredExpression {
  program: ParseResult;
  steps: readonly Step[];
}

/**
 * Maximum number of characters of compiled expressions that are kept: one takes up to 130 bytes when compiled, all
 * together some fifty megabytes at most.
 */
const maxCompiled = 400_000;
/** What a kept expression takes besides its characters, in characters. */
const overhead = 20;
/**
 * Maximum number of characters of expressions that are compiled for one budget, which takes less than a second: those of a
 * definition that has more are evicted before they are used again.
 */
const maxCompiledNow = 500_000;

/**
 * Counts the cost of expressions while they are evaluated, and stops those that cost too much. The library limits the
 * size of an expression but not its work.
 */
export class Meter {
  readonly #parser: Environment;
  readonly #evaluator: Environment;
  /** The most recently used expressions; null for those that this engine cannot evaluate. */
  readonly #compiled = new LRUCache<string, { expression: MeteredExpression | null }>({
    maxSize: maxCompiled,
    sizeCalculation: (_, { length }) => overhead + length,
  });
  /** The patterns whose compilation has been charged. */
  readonly #patterns = new WeakSet<Pattern>();
  #steps: readonly Step[] = [];
  #budget: Budget = { left: 0 };
  /** The remaining budget of the current evaluation; negative once it has been stopped. */
  #left = 0;
  #evaluations = 0;

  constructor(environment: Environment) {
    const isSync = { async: false };
    this.#parser = environment;
    this.#evaluator = environment
      // The types and the size of the original have been checked. What reports a part has no type, and is longer.
      .clone({ homogeneousAggregateLiterals: false, limits: { maxAstNodes: 1_000_000, maxDepth: 2_500 } })
      .registerFunction('step(int, dyn): dyn', (number: bigint, value: unknown) => this.#step(number, value), isSync)
      .registerFunction('enter(int): bool', (number: bigint) => this.#enter(number), isSync)
      .registerFunction('leave(int, dyn): dyn', (number: bigint, value: unknown) => this.#leave(number, value), isSync)
      .registerFunction('matchesRe2(dyn, dyn): bool', (text, source) => this.#matches(text, source), isSync);
  }

  #compile(expression: string, budget: Budget): MeteredExpression | null {
    let compiled = this.#compiled.get(expression)?.expression;
    if (compiled === undefined) {
      budget.compiled = (budget.compiled ?? 0) + expression.length;
      if (budget.compiled > maxCompiledNow) {
        throw new CostError(true);
      }
      compiled = null;
      if (this.#parser.check(expression).valid) {
        const instrumentation = new Instrumentation();
        const text = instrumentation.part(this.#parser.parse(expression).ast);
        compiled = { program: this.#evaluator.parse(text), steps: instrumentation.steps };
      }
      this.#compiled.set(expression, { expression: compiled });
    }
    return compiled;
  }

  /**
   * Evaluates an expression; undefined if this engine cannot.
   *
   * @throws {CostError} when it costs more than a single evaluation may, or than is left in the budget, or when too many
   *   expressions have been compiled for it.
   * @throws {EvaluationError} when the expression itself fails.
   */
  evaluate(expression: string, variables: Context, budget: Budget): unknown {
    try {
      const compiled = this.#compile(expression, budget);
      return compiled === null ? undefined : this.#run(compiled, variables, budget);
    } catch (error) {
      if (error instanceof CostError) {
        // What was stopped retains the values that it has created, which may take many megabytes.
        this.#compiled.delete(expression);
      }
      throw evaluationError(error);
    }
  }

  #run({ program, steps }: MeteredExpression, variables: Context, budget: Budget): unknown {
    if (budget.left <= 0) {
      throw new CostError(true);
    }
    this.#steps = steps;
    this.#budget = budget;
    this.#left = Math.min(perCall, budget.left);
    this.#evaluations++;
    const before = this.#left;
    const { stackTraceLimit } = Error;
    // Expressions absorb errors by the ten thousand, and two thirds of the time for each would go into an unused stack
    // trace.
    Error.stackTraceLimit = 0;
    try {
      const value: unknown = program(variables);
      // The expression may have absorbed the error that should have stopped it.
      this.#spend(0);
      return value;
    } catch (error) {
      this.#spend(0);
      throw error;
    } finally {
      Error.stackTraceLimit = stackTraceLimit;
      budget.left -= before - this.#left;
    }
  }

  #spend(cost: number): void {
    // An expression that has been stopped costs nothing more, although it may absorb some errors before it ends.
    this.#left -= this.#left < 0 ? 0 : cost;
    if (this.#left < 0) {
      throw new CostError(this.#budget.left < perCall);
    }
  }

  /** A part has been evaluated. With the last operand, an operation begins and its cost is charged. */
  #step(number: bigint, value: unknown): unknown {
    this.#spend(1);
    const { operation, index } = this.#steps[Number(number)] as Step;
    if (operation !== undefined) {
      this.#operand(operation, index, value);
    }
    return value;
  }

  #operand(operation: Operation, index: number, value: unknown): void {
    // Another operand failed when the operation was last evaluated.
    const operands = operation.operands[index] === unknown ? operation.operands : [...operation.before];
    operands[index] = value;
    operation.operands = operands;
    if (operands.includes(unknown)) {
      return;
    }
    // Computed values must not stay in memory as long as the expression does.
    operation.operands = [...operation.before];
    if (readers.has(operation.name) && lengthOf(operands[0]) > maxRead) {
      throw new EvaluationError(`${operation.name}(): the string is longer than ${maxRead} characters`);
    }
    this.#spend(costOf(operation.name, operands));
  }

  /** A part begins whose failure the expression survives: if it has not ended since it last began, it has failed. */
  #enter(number: bigint): boolean {
    const step = this.#steps[Number(number)] as Step;
    this.#spend(step.openIn === this.#evaluations ? 1 + errorCost : 1);
    step.openIn = this.#evaluations;
    return true;
  }

  #leave(number: bigint, value: unknown): unknown {
    (this.#steps[Number(number)] as Step).openIn = 0;
    return value;
  }

  /** CEL's `matches` uses RE2; the library's uses JavaScript's regular expressions, which backtrack. */
  #matches(text: unknown, source: unknown): boolean {
    if (typeof text !== 'string' || typeof source !== 'string') {
      throw new EvaluationError("found no matching overload for 'matches'");
    }
    let pattern: Pattern;
    try {
      pattern = compilePattern(source);
    } catch (error) {
      this.#spend(500);
      throw new EvaluationError((error as Error).message);
    }
    if (!this.#patterns.has(pattern)) {
      this.#patterns.add(pattern);
      this.#spend(500 + pattern.size * 50);
    }
    this.#spend((text.length * pattern.size) / 10);
    return pattern.test(text);
  }
}
