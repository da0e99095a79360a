import { type Bytes, quoted } from '../../base/go-text/index.ts';
import { Budget, FunctionError, maxDepth, TemplateError, tooMuch } from './budget.ts';
import { functions } from './functions/index.ts';
import type {
  BranchNode,
  CommandNode,
  NumberNode,
  OperandNode,
  PipeNode,
  PlaceNode,
  StatementNode,
  TemplateNode,
} from './language/nodes.ts';
import { showNode } from './language/nodes.ts';
import type { ParsedTemplate } from './language/parse.ts';
import { sprint } from './values/print.ts';
import {
  anyType,
  Boxed,
  Dict,
  elementOperand,
  Integer,
  integerOf,
  isTrue,
  List,
  type Operand,
  operandType,
  Struct,
  staticType,
  type TemplateFunction,
  typeOf,
  unboxed,
  type Value,
  zeroOf,
} from './values/values.ts';

/** No previous value in a pipeline. */
const missing = Symbol('missing');
type Final = Operand | typeof missing;

/** The arguments of a function, a method or a field in a command. */
interface Given {
  dot: Operand;
  args: readonly OperandNode[];
  final: Final;
}

/** Operands that may have arguments. */
const callable: ReadonlySet<string> = new Set(['field', 'variable', 'chain', 'function']);

/** How a list of statements ended early. */
type Jump = 'break' | 'continue' | undefined;

/** Variables of a template or a block. */
type Scope = Map<Bytes, Operand>;

/** Walks a template. */
class Evaluation {
  readonly #template: ParsedTemplate;
  readonly #budget = new Budget();
  #output = '';
  /** The template that is walked, for errors. */
  #name: Bytes;
  /** Of the template that is walked, and of the blocks in it that are open. */
  #scopes: Scope[] = [];
  /** The last node that was looked at: Go names it as the place of an error. */
  #place: PlaceNode | undefined;
  #depth = 0;

  /** Whether a map without an entry is an error (text/template's option missingkey=error). */
  readonly #needsKeys: boolean;

  constructor(template: ParsedTemplate, needsKeys: boolean) {
    this.#template = template;
    this.#needsKeys = needsKeys;
    this.#name = template.name;
  }

  run(data: Operand): Bytes {
    this.#scopes = [new Map([['$', data]])];
    this.#walk(data, this.#template.bodies.get(this.#name) ?? []);
    return this.#output;
  }

  #write(part: Bytes): void {
    this.#budget.checkLength(this.#output.length + part.length);
    this.#budget.read(part.length);
    this.#output += part;
  }

  #fail(message: Bytes): never {
    const place = this.#place as PlaceNode;
    const before = this.#template.text.slice(0, place.at);
    const line = before.split('\n').length;
    const column = place.at - (before.lastIndexOf('\n') + 1);
    // On the first line, Go counts from the start of the text.
    throw new TemplateError(
      `template: ${this.#template.name}:${line}:${column}: executing ${quoted(this.#name)} at <${showNode(place)}>: ${message}`,
    );
  }

  #walk(dot: Operand, body: readonly StatementNode[]): Jump {
    for (const node of body) {
      this.#budget.spend(1);
      let jump: Jump;
      switch (node.kind) {
        case 'text':
          this.#write(node.text);
          break;
        case 'action':
          this.#action(dot, node.pipe, node);
          break;
        case 'break':
        case 'continue':
          return node.kind;
        case 'range':
          jump = this.#inScope(() => this.#range(dot, node));
          break;
        case 'template':
          this.#call(dot, node);
          break;
        default:
          jump = this.#inScope(() => this.#branch(dot, node));
      }
      if (jump !== undefined) {
        return jump;
      }
    }
    return undefined;
  }

  #action(dot: Operand, pipe: PipeNode, node: PlaceNode): void {
    this.#place = node;
    const value = unboxed(this.#pipe(dot, pipe));
    if (pipe.variables.length === 0) {
      this.#place = node;
      this.#write(value === undefined ? '<no value>' : sprint(this.#budget, [value]));
    }
  }

  /** Runs what may declare variables of its own. */
  #inScope(run: () => Jump): Jump {
    this.#scopes.push(new Map());
    const jump = run();
    this.#scopes.pop();
    return jump;
  }

  #branch(dot: Operand, node: BranchNode): Jump {
    this.#place = node;
    const value = unboxed(this.#pipe(dot, node.pipe));
    return isTrue(value) ? this.#walk(node.kind === 'with' ? value : dot, node.body) : this.#walk(dot, node.otherwise);
  }

  #range(dot: Operand, node: BranchNode): Jump {
    this.#place = node;
    const { variables } = node.pipe;
    const value = unboxed(this.#pipe(dot, node.pipe));
    if (variables.length > 1 && integerOf(value) !== undefined) {
      this.#fail(`can't use ${integerOf(value)} to iterate over more than one variable`);
    }
    let isEmpty = true;
    for (const [index, element] of this.#elementsOf(value)) {
      isEmpty = false;
      this.#budget.spend(1);
      const values = variables.length > 1 ? [index, element] : [element];
      for (const [position, name] of variables.entries()) {
        this.#scopeOf(name).set(name, values[position]);
      }
      if (this.#inScope(() => this.#walk(element, node.body)) === 'break') {
        break;
      }
    }
    const jump = isEmpty ? this.#walk(dot, node.otherwise) : undefined;
    // A break in its else belongs to the loop around it, but Go ends only this one.
    return jump === 'continue' ? jump : undefined;
  }

  *#elementsOf(value: Exclude<Operand, Boxed>): Generator<[index: Operand, element: Operand]> {
    const count = integerOf(value);
    if (count !== undefined) {
      for (let index = 0n; index < count; index++) {
        yield [undefined, value instanceof Integer ? new Integer(value.type, index) : index];
      }
    } else if (value instanceof List) {
      for (const [index, item] of value.items.entries()) {
        yield [BigInt(index), elementOperand(item, value.element)];
      }
    } else if (value instanceof Dict) {
      this.#budget.spend(value.entries.size);
      for (const [key, entry] of value.keys().map((one) => [one, value.entries.get(one) ?? null] as const)) {
        yield [key, elementOperand(entry, value.element)];
      }
    } else if (value !== undefined) {
      this.#fail(`range can't iterate over ${sprint(this.#budget, [value])}`);
    }
  }

  #call(dot: Operand, node: TemplateNode): void {
    this.#place = node;
    const body = this.#template.bodies.get(node.name);
    if (body === undefined) {
      this.#fail(`template ${quoted(node.name)} not defined`);
    }
    if (this.#depth >= maxDepth) {
      throw tooMuch(`templates call each other more than ${maxDepth} levels deep`);
    }
    const argument = node.pipe === undefined ? undefined : this.#pipe(dot, node.pipe);
    const outer = { name: this.#name, scopes: this.#scopes };
    this.#name = node.name;
    this.#scopes = [new Map([['$', argument]])];
    this.#depth++;
    this.#walk(argument, body);
    this.#depth--;
    this.#name = outer.name;
    this.#scopes = outer.scopes;
  }

  /** The innermost scope that has a variable. */
  #scopeOf(name: Bytes): Scope {
    return this.#scopes.findLast((scope) => scope.has(name)) ?? this.#fail(`undefined variable: ${name}`);
  }

  #pipe(dot: Operand, pipe: PipeNode): Operand {
    this.#place = pipe;
    let value: Final = missing;
    for (const command of pipe.commands) {
      value = unboxed(this.#command(dot, command, value));
    }
    const result = value === missing ? undefined : value;
    for (const name of pipe.variables) {
      const scope = pipe.isAssignment ? this.#scopeOf(name) : this.#scopes.at(-1);
      scope?.set(name, result);
    }
    return result;
  }

  #command(dot: Operand, command: CommandNode, final: Final): Operand {
    this.#budget.spend(1);
    const [first, ...args] = command.operands;
    const isVariable = first.kind === 'variable' && first.path.length === 0;
    if (callable.has(first.kind) && !isVariable) {
      return this.#operand(first, { dot, args, final }, command);
    }
    this.#place = first.kind === 'pipe' ? this.#place : first;
    if (args.length > 0 || final !== missing) {
      this.#fail(`can't give argument to non-function ${showNode(first)}`);
    }
    return first.kind === 'nil' ? this.#fail('nil is not a command') : this.#argument(dot, undefined, first);
  }

  /** What a node stands for that is not a literal. `place` is where errors of a call are. */
  #operand(node: OperandNode, given: Given, place: PlaceNode = node): Operand {
    this.#place = node;
    switch (node.kind) {
      case 'field':
        return this.#fields(given.dot, node, given);
      case 'variable':
        return this.#fields(this.#scopeOf(node.name).get(node.name), node, given);
      case 'chain':
        if (node.of.kind === 'nil') {
          this.#fail(`indirection through explicit nil in ${showNode(node)}`);
        }
        return this.#fields(this.#argument(given.dot, undefined, node.of), node, given);
      case 'function':
        // The parser knows all functions.
        return this.#invoke(functions.get(node.name) as TemplateFunction, place, node.name, given);
      case 'pipe':
        return this.#pipe(given.dot, node);
      default:
        return given.dot;
    }
  }

  /** A number where no type is asked for: its form tells. */
  #number(node: NumberNode): Operand {
    this.#place = node;
    const { text, int, float } = node;
    const isWhole = text.startsWith("'") || (/^0[xX]./.test(text) && !/[pP]/.test(text));
    if (float !== undefined && !isWhole && /[.eEpP]/.test(text)) {
      return float;
    }
    return int ?? this.#fail(`${text} overflows int`);
  }

  /** The value at the path of a node. */
  #fields(from: Operand, node: PlaceNode & { path: readonly Bytes[] }, given: Given): Operand {
    let receiver = from;
    for (const [index, name] of node.path.entries()) {
      const isLast = index === node.path.length - 1;
      receiver = this.#field(receiver, name, node, isLast ? given : { ...given, args: [], final: missing });
    }
    return receiver;
  }

  #field(receiver: Operand, name: Bytes, node: PlaceNode, given: Given): Operand {
    this.#budget.spend(1);
    if (receiver === undefined) {
      return undefined;
    }
    const type = staticType(receiver);
    const value = unboxed(receiver);
    if (value === undefined) {
      this.#fail(`nil pointer evaluating ${type}.${name}`);
    }
    const hasArguments = given.args.length > 0 || given.final !== missing;
    if (value instanceof Dict) {
      if (hasArguments) {
        this.#fail(`${name} is not a method but has arguments`);
      }
      const entry = value.entries.get(name);
      if (entry === undefined && this.#needsKeys) {
        this.#fail(`map has no entry for key ${quoted(name)}`);
      }
      return entry === undefined ? undefined : elementOperand(entry, value.element);
    }
    if (value instanceof Struct) {
      const method = value.method(name);
      if (method !== undefined) {
        return this.#invoke(method, node, name, given);
      }
    }
    this.#fail(`can't evaluate field ${name} in type ${type}`);
  }

  /** Calls a function or a method. `place` is where its errors are. */
  #invoke(definition: TemplateFunction, place: PlaceNode, name: Bytes, { dot, args, final }: Given): Operand {
    const { parameters, rest, isAny = false } = definition;
    const fixed = parameters.length;
    const count = args.length + (final === missing ? 0 : 1);
    if (rest !== undefined ? count < fixed : count !== fixed) {
      const wanted = rest === undefined ? `want ${fixed} got ${count}` : `want at least ${fixed} got ${args.length}`;
      this.#fail(`wrong number of args for ${name}: ${wanted}`);
    }
    if (name === 'and' || name === 'or') {
      return this.#shortCircuit(dot, name === 'or', args, final);
    }
    const typeAt = (index: number) => parameters[index] ?? rest;
    const values = args.map((node, index) => this.#argument(dot, typeAt(index), node));
    if (final !== missing) {
      values.push(this.#typed(final, typeAt(args.length)));
    }
    for (const value of values) {
      if (typeof value === 'string') {
        this.#budget.read(value.length);
      }
    }
    try {
      const result = definition.call(values, this.#budget);
      if (typeof result === 'string') {
        this.#budget.write(result.length);
      }
      return isAny && !(result instanceof Boxed) ? new Boxed(result ?? null) : result;
    } catch (error) {
      if (error instanceof FunctionError) {
        this.#place = place;
        this.#fail(`error calling ${name}: ${error.message}`);
      }
      throw error;
    }
  }

  #shortCircuit(dot: Operand, stopsAt: boolean, args: readonly OperandNode[], final: Final): Operand {
    let value: Operand;
    for (const node of args) {
      value = this.#argument(dot, operandType, node);
      if (isTrue(unboxed(value)) === stopsAt) {
        return value;
      }
    }
    return final === missing ? value : final;
  }

  /** A type's nil. */
  #zero(type: string, problem: Bytes): Operand {
    const zero = zeroOf(type);
    return zero === undefined ? this.#fail(problem) : (zero ?? undefined);
  }

  /** A value as an argument of a type. */
  #typed(operand: Operand, type: string | undefined): Operand {
    if (type === undefined || type === operandType) {
      return operand;
    }
    if (operand === undefined) {
      return this.#zero(type, `invalid value; expected ${type}`);
    }
    const value = unboxed(operand);
    if (type === anyType || (value !== undefined && typeOf(value) === type)) {
      return value;
    }
    const actual = value === undefined ? anyType : typeOf(value);
    this.#fail(`wrong type for value; expected ${type}; got ${actual}`);
  }

  #argument(dot: Operand, type: string | undefined, node: OperandNode): Operand {
    this.#budget.spend(1);
    this.#place = node;
    switch (node.kind) {
      case 'nil':
        return type === operandType ? undefined : this.#zero(type ?? '', `cannot assign nil to ${type}`);
      case 'bool':
      case 'string':
      case 'number':
        return this.#literal(node, type ?? anyType);
      default:
        return this.#typed(this.#operand(node, { dot, args: [], final: missing }), type);
    }
  }

  #literal(node: OperandNode & { kind: 'bool' | 'string' | 'number' }, type: string): Operand {
    if (type === anyType || type === operandType) {
      return node.kind === 'number' ? this.#number(node) : node.kind === 'bool' ? node.value : node.text;
    }
    const { int = undefined, float = undefined } = node.kind === 'number' ? node : {};
    const known: Readonly<Record<string, readonly [what: string, value: Operand]>> = {
      bool: ['bool', node.kind === 'bool' ? node.value : undefined],
      string: ['string', node.kind === 'string' ? node.text : undefined],
      float64: ['float', float],
      int: ['integer', int],
    };
    const [what, value] = known[type] ?? this.#fail(`can't handle ${showNode(node)} for arg of type ${type}`);
    return value ?? this.#fail(`expected ${what}; found ${showNode(node)}`);
  }
}

/**
 * Runs a template over data.
 *
 * @param needsKeys whether a field that a map does not have is an error.
 *
 * @throws {TemplateError} with Go's message, or when it takes too much work.
 */
export function evaluateTemplate(template: ParsedTemplate, data: Value, needsKeys = false): Bytes {
  return new Evaluation(template, needsKeys).run(data ?? undefined);
}
