import { type Bytes, quoted } from '../../base/go-text/index.ts';
import { Budget, FunctionError, maxDepth, TemplateError, tooMuch } from './budget.ts';
import { functions } from './functions/index.ts';
import type {
  BranchNode,
  CommandNode,
  LiteralNode,
  OperandNode,
  PipeNode,
  PlaceNode,
  StatementNode,
  TemplateNode,
} from './language/nodes.ts';
import type { ParsedTemplate } from './language/parse.ts';
import { shown } from './language/tokens.ts';
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
  sizeOf,
  staticType,
  type TemplateFunction,
  typeOf,
  unboxed,
  type Value,
  zeroOf,
} from './values/values.ts';

/** An argument of a command: a node, or the value of the command before it in the pipeline. */
type Argument = OperandNode | { kind: 'piped'; value: Operand };
const none: readonly Argument[] = [];

/** Operands that may have arguments. */
const callable: ReadonlySet<string> = new Set(['field', 'variable', 'chain', 'function']);

/** The types of parameters that literals fit, and what Go calls these literals. */
const literalTypes = { bool: 'bool', string: 'string', float64: 'float', int: 'integer' } as const;
const isLiteralType = (type: string): type is keyof typeof literalTypes => Object.hasOwn(literalTypes, type);

type Jump = 'break' | 'continue' | undefined;

type Scope = Map<Bytes, Operand>;

class Evaluation {
  readonly #template: ParsedTemplate;
  /** Whether a map without an entry is an error (text/template's option missingkey=error). */
  readonly #needsKeys: boolean;
  readonly #budget = new Budget();
  #output = '';
  #name: Bytes;
  #dot: Operand;
  /** Of the template that is walked, and of the blocks in it that are open. */
  #scopes: Scope[];
  /** The last node that was looked at: Go names it as the place of an error. */
  #place: PlaceNode | undefined;
  #depth = 0;

  constructor(template: ParsedTemplate, data: Operand, needsKeys: boolean) {
    this.#template = template;
    this.#needsKeys = needsKeys;
    this.#name = template.name;
    this.#dot = data;
    this.#scopes = [new Map([['$', data]])];
  }

  run(): Bytes {
    this.#walk(this.#template.bodies.get(this.#name) ?? []);
    return this.#output;
  }

  #write(part: Bytes): void {
    this.#budget.write(part.length, this.#output.length + part.length);
    this.#output += part;
  }

  #fail(message: Bytes): never {
    const { at, kind, source } = this.#place as PlaceNode;
    const before = this.#template.text.slice(0, at);
    const line = before.split('\n').length;
    const column = at - (before.lastIndexOf('\n') + 1);
    const place = kind === 'template' ? `{{${shown(source)}}}` : shown(source);
    throw new TemplateError(
      `template: ${this.#template.name}:${line}:${column}: executing ${quoted(this.#name)} at <${place}>: ${message}`,
    );
  }

  #walk(body: readonly StatementNode[]): Jump {
    for (const node of body) {
      this.#budget.spend(1);
      let jump: Jump;
      switch (node.kind) {
        case 'text':
          this.#write(node.text);
          break;
        case 'action':
          this.#action(node.pipe);
          break;
        case 'break':
        case 'continue':
          return node.kind;
        case 'template':
          this.#call(node);
          break;
        default:
          jump = this.#inScope(this.#dot, () => (node.kind === 'range' ? this.#range(node) : this.#branch(node)));
      }
      if (jump !== undefined) {
        return jump;
      }
    }
    return undefined;
  }

  #action(pipe: PipeNode): void {
    const value = unboxed(this.#pipe(pipe));
    if (pipe.variables.length === 0) {
      this.#write(value === undefined ? '<no value>' : sprint(this.#budget, [value]));
    }
  }

  #inScope(dot: Operand, run: () => Jump): Jump {
    const outer = this.#dot;
    this.#dot = dot;
    this.#scopes.push(new Map());
    const jump = run();
    this.#scopes.pop();
    this.#dot = outer;
    return jump;
  }

  #branch({ kind, pipe, body, otherwise }: BranchNode): Jump {
    const value = unboxed(this.#pipe(pipe));
    if (!isTrue(value)) {
      return this.#walk(otherwise);
    }
    this.#dot = kind === 'with' ? value : this.#dot;
    return this.#walk(body);
  }

  #range({ pipe, body, otherwise }: BranchNode): Jump {
    const { variables } = pipe;
    const value = unboxed(this.#pipe(pipe));
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
      if (this.#inScope(element, () => this.#walk(body)) === 'break') {
        break;
      }
    }
    // A break in its else belongs to the loop around it, but Go ends only this one.
    return isEmpty && this.#walk(otherwise) === 'continue' ? 'continue' : undefined;
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

  #call(node: TemplateNode): void {
    this.#place = node;
    const body = this.#template.bodies.get(node.name);
    if (body === undefined) {
      this.#fail(`template ${quoted(node.name)} not defined`);
    }
    if (this.#depth >= maxDepth) {
      throw tooMuch(`templates call each other more than ${maxDepth} levels deep`);
    }
    const argument = node.pipe === undefined ? undefined : this.#pipe(node.pipe);
    const [name, scopes] = [this.#name, this.#scopes];
    this.#name = node.name;
    this.#scopes = [];
    this.#depth++;
    this.#inScope(argument, () => {
      this.#scopes.at(-1)?.set('$', argument);
      return this.#walk(body);
    });
    this.#depth--;
    this.#name = name;
    this.#scopes = scopes;
  }

  #scopeOf(name: Bytes): Scope {
    return this.#scopes.findLast((scope) => scope.has(name)) ?? this.#fail(`undefined variable: ${name}`);
  }

  #pipe(pipe: PipeNode): Operand {
    this.#place = pipe;
    let value: Operand;
    for (const [index, command] of pipe.commands.entries()) {
      value = unboxed(this.#command(command, index === 0 ? none : [{ kind: 'piped', value }]));
    }
    for (const name of pipe.variables) {
      const scope = pipe.isAssignment ? this.#scopeOf(name) : this.#scopes.at(-1);
      scope?.set(name, value);
    }
    return value;
  }

  #command(command: CommandNode, piped: readonly Argument[]): Operand {
    this.#budget.spend(1);
    const { first } = command;
    const args = piped.length === 0 ? command.args : [...command.args, ...piped];
    const isVariable = first.kind === 'variable' && first.path.length === 0;
    if (callable.has(first.kind) && !isVariable) {
      return this.#operand(first, args, command);
    }
    this.#place = first.kind === 'pipe' ? this.#place : first;
    if (args.length > 0) {
      this.#fail(`can't give argument to non-function ${shown(first.source)}`);
    }
    return first.kind === 'nil' ? this.#fail('nil is not a command') : this.#argument(undefined, first);
  }

  /** What a node stands for that is not a literal. `place` is where errors of a call are. */
  #operand(node: OperandNode, args: readonly Argument[] = [], place: PlaceNode = node): Operand {
    this.#place = node;
    switch (node.kind) {
      case 'field':
        return this.#fields(this.#dot, node, args);
      case 'variable':
        return this.#fields(this.#scopeOf(node.name).get(node.name), node, args);
      case 'chain':
        if (node.of.kind === 'nil') {
          this.#fail(`indirection through explicit nil in ${shown(node.source)}`);
        }
        return this.#fields(this.#argument(undefined, node.of), node, args);
      case 'function':
        // The parser knows all functions.
        return this.#invoke(functions.get(node.name) as TemplateFunction, place, node.name, args);
      case 'pipe':
        return this.#pipe(node);
      default:
        return this.#dot;
    }
  }

  /** The value at the path of a node. Only the last field may be a method that has arguments. */
  #fields(from: Operand, node: PlaceNode & { path: readonly Bytes[] }, args: readonly Argument[]): Operand {
    const last = node.path.length - 1;
    let receiver = from;
    for (const [index, name] of node.path.entries()) {
      receiver = this.#field(receiver, name, node, index === last ? args : none);
    }
    return receiver;
  }

  #field(receiver: Operand, name: Bytes, node: PlaceNode, args: readonly Argument[]): Operand {
    this.#budget.spend(1);
    if (receiver === undefined) {
      return undefined;
    }
    const type = staticType(receiver);
    const value = unboxed(receiver);
    if (value === undefined) {
      this.#fail(`nil pointer evaluating ${type}.${name}`);
    }
    if (value instanceof Dict) {
      if (args.length > 0) {
        this.#fail(`${name} is not a method but has arguments`);
      }
      const entry = value.entries.get(name);
      if (entry === undefined && this.#needsKeys) {
        this.#fail(`map has no entry for key ${quoted(name)}`);
      }
      return entry === undefined ? undefined : elementOperand(entry, value.element);
    }
    const method = value instanceof Struct ? value.method(name) : undefined;
    return method === undefined
      ? this.#fail(`can't evaluate field ${name} in type ${type}`)
      : this.#invoke(method, node, name, args);
  }

  /** Calls a function or a method. `place` is where its errors are. */
  #invoke(definition: TemplateFunction, place: PlaceNode, name: Bytes, args: readonly Argument[]): Operand {
    const { parameters, rest, isAny = false } = definition;
    const fixed = parameters.length;
    if (rest === undefined ? args.length !== fixed : args.length < fixed) {
      const written = args.filter(({ kind }) => kind !== 'piped').length;
      const wanted = rest === undefined ? `want ${fixed} got ${args.length}` : `want at least ${fixed} got ${written}`;
      this.#fail(`wrong number of args for ${name}: ${wanted}`);
    }
    if (name === 'and' || name === 'or') {
      return this.#shortCircuit(name === 'or', args);
    }
    const values = args.map((node, index) => this.#argument(parameters[index] ?? rest, node));
    for (const value of values) {
      this.#budget.read(sizeOf(value));
    }
    try {
      const result = definition.call(values, this.#budget);
      this.#budget.write(sizeOf(result));
      return isAny && !(result instanceof Boxed) ? new Boxed(result ?? null) : result;
    } catch (error) {
      if (error instanceof FunctionError) {
        this.#place = place;
        this.#fail(`error calling ${name}: ${error.message}`);
      }
      throw error;
    }
  }

  #shortCircuit(stopsAt: boolean, args: readonly Argument[]): Operand {
    let value: Operand;
    for (const node of args) {
      value = this.#argument(operandType, node);
      if (isTrue(unboxed(value)) === stopsAt) {
        break;
      }
    }
    return value;
  }

  #zero(type: string, problem: Bytes): Operand {
    const zero = zeroOf(type);
    return zero === undefined ? this.#fail(problem) : (zero ?? undefined);
  }

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

  #argument(type: string | undefined, node: Argument): Operand {
    if (node.kind === 'piped') {
      return this.#typed(node.value, type);
    }
    this.#budget.spend(1);
    this.#place = node;
    switch (node.kind) {
      case 'nil':
        return type === operandType ? undefined : this.#zero(type ?? '', `cannot assign nil to ${type}`);
      case 'literal':
        return this.#literal(node, type ?? anyType);
      default:
        return this.#typed(this.#operand(node), type);
    }
  }

  #literal({ source, value, fits }: LiteralNode, type: string): Operand {
    if (type === anyType || type === operandType) {
      return value ?? this.#fail(`${source} overflows int`);
    }
    if (!isLiteralType(type)) {
      this.#fail(`can't handle ${shown(source)} for arg of type ${type}`);
    }
    return fits[type] ?? this.#fail(`expected ${literalTypes[type]}; found ${shown(source)}`);
  }
}

/**
 * Runs a template over data.
 *
 * @param needsKeys whether a field that a map does not have is an error.
 * @throws {TemplateError} with Go's message.
 * @throws {NotKnown} when it takes too much work.
 */
export const evaluateTemplate = (template: ParsedTemplate, data: Value, needsKeys = false): Bytes =>
  new Evaluation(template, data ?? undefined, needsKeys).run();
