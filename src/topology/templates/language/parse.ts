import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { maxDepth, maxTokens, TemplateError, tooMuch } from '../budget.ts';
import { literal, unquoted } from './literals.ts';
import type { BranchNode, CommandNode, OperandNode, PipeNode, StatementNode, TemplateNode } from './nodes.ts';
import { showToken, type Token, tokensOf } from './tokens.ts';

/** A parsed template with those that it defines, by name. */
export interface ParsedTemplate {
  name: string;
  text: Bytes;
  bodies: ReadonlyMap<Bytes, readonly StatementNode[]>;
}

type End = { kind: 'end' } | { kind: 'else'; follows?: string };

const operandStarts: ReadonlySet<string> = new Set(
  'bool charConstant . field identifier number nil string variable leftParenthesis'.split(' '),
);

/** Operands that are neither called nor have fields. */
const constants: ReadonlySet<string> = new Set(['dot', 'literal', 'nil']);

const isEmpty = (body: readonly StatementNode[]): boolean =>
  body.every((node) => node.kind === 'text' && /^[\t\n\v\f\r \x85\xa0]*$/.test(node.text));

/** The state that differs between a template and those defined in it. */
interface Scope {
  variables: Set<Bytes>[];
  loops: number;
  /** Where the action is that is parsed; undefined outside of actions. */
  action: number | undefined;
}

const newScope = (): Scope => ({ variables: [new Set(['$'])], loops: 0, action: undefined });

class Parser {
  readonly #text: Bytes;
  readonly #name: string;
  readonly #isFunction: (name: string) => boolean;
  readonly #tokens: Token[] = [];
  readonly #bodies = new Map<Bytes, readonly StatementNode[]>();
  #next = 0;
  /** Index of the last token that was looked at: errors name its line. */
  #seen = 0;
  #depth = 0;
  #scope = newScope();

  constructor(text: Bytes, name: string, isFunction: (name: string) => boolean) {
    this.#text = text;
    this.#name = name;
    this.#isFunction = isFunction;
    for (const token of tokensOf(text)) {
      if (this.#tokens.push(token) > maxTokens) {
        throw tooMuch(`the template has more than ${maxTokens} tokens`);
      }
    }
  }

  parse(): ParsedTemplate {
    const body: StatementNode[] = [];
    while (this.#peek().type !== 'eof') {
      const start = this.#next;
      if (this.#take().type === 'leftDelimiter' && this.#peekNonSpace().type === 'define') {
        this.#take();
        this.#inScope(() => this.#definition());
        continue;
      }
      this.#next = start;
      const node = this.#statement();
      if (node.kind === 'end' || node.kind === 'else') {
        this.#fail(`unexpected {{${node.kind}}}`);
      }
      body.push(node);
    }
    this.#define(this.#name, body);
    return { name: this.#name, text: this.#text, bodies: this.#bodies };
  }

  #lineOf(at: number): number {
    return this.#text.slice(0, at).split('\n').length;
  }

  readonly #fail: (message: Bytes) => never = (message) => {
    const line = this.#lineOf(this.#tokens[this.#seen]?.at ?? 0);
    throw new TemplateError(`template: ${this.#name}:${line}: ${message}`);
  };

  #peek(): Token {
    this.#next = Math.min(this.#next, this.#tokens.length - 1);
    this.#seen = Math.max(this.#seen, this.#next);
    return this.#tokens[this.#next] as Token;
  }

  #take(): Token {
    const token = this.#peek();
    this.#next++;
    return token;
  }

  #peekNonSpace(): Token {
    while (this.#peek().type === 'space') {
      this.#next++;
    }
    return this.#peek();
  }

  #takeNonSpace(): Token {
    this.#peekNonSpace();
    return this.#take();
  }

  /** The text from an offset to the end of the last token that was taken. */
  #since(start: number): Bytes {
    const { at, text } = this.#tokens[this.#next - 1] as Token;
    return this.#text.slice(start, at + text.length);
  }

  #unexpected(token: Token, context: Bytes): never {
    if (token.type === 'error') {
      const { action } = this.#scope;
      const line = action === undefined ? undefined : this.#lineOf(action);
      const isElsewhere = line !== undefined && line !== this.#lineOf(token.at);
      const started = `${token.text.endsWith(' action') ? '' : ' in action'} started at ${this.#name}:${line}`;
      this.#fail(`${token.text}${isElsewhere ? started : ''}`);
    }
    this.#fail(`unexpected ${showToken(token)} in ${context}`);
  }

  #expect(context: string, type: string): Token {
    const token = this.#takeNonSpace();
    return token.type === type ? token : this.#unexpected(token, context);
  }

  #define(name: Bytes, body: readonly StatementNode[]): void {
    const earlier = this.#bodies.get(name);
    if (earlier === undefined || isEmpty(earlier)) {
      this.#bodies.set(name, body);
    } else if (!isEmpty(body)) {
      this.#fail(`template: multiple definition of template ${quoted(name)}`);
    }
  }

  #inScope(run: () => void): void {
    const outer = this.#scope;
    this.#scope = newScope();
    run();
    this.#scope = outer;
  }

  #nested<T>(run: () => T): T {
    if (this.#depth >= maxDepth) {
      throw tooMuch(`blocks and parentheses nest deeper than ${maxDepth} levels`);
    }
    this.#depth++;
    const result = run();
    this.#depth--;
    return result;
  }

  #nameIn(context: string): Bytes {
    return unquoted(this.#expect(context, 'string').text, this.#fail);
  }

  #definition(): void {
    const context = 'define clause';
    const name = this.#nameIn(context);
    this.#expect(context, 'rightDelimiter');
    this.#define(name, this.#bodyUntilEnd(context));
  }

  #bodyUntilEnd(context: string): readonly StatementNode[] {
    const { body, end } = this.#body();
    return end.kind === 'else' ? this.#fail(`unexpected {{else}} in ${context}`) : body;
  }

  #body(): { body: StatementNode[]; end: End } {
    const body: StatementNode[] = [];
    while (this.#peekNonSpace().type !== 'eof') {
      const node = this.#statement();
      if (node.kind === 'end' || node.kind === 'else') {
        return { body, end: node };
      }
      body.push(node);
    }
    return this.#fail('unexpected EOF');
  }

  #statement(): StatementNode | End {
    const token = this.#takeNonSpace();
    if (token.type === 'text') {
      return { kind: 'text', text: token.text };
    }
    if (token.type !== 'leftDelimiter') {
      this.#unexpected(token, 'input');
    }
    this.#scope.action = token.at;
    const node = this.#nested(() => this.#action());
    this.#scope.action = undefined;
    return node;
  }

  #action(): StatementNode | End {
    const { type } = this.#takeNonSpace();
    switch (type) {
      case 'block':
      case 'template':
        return this.#template(type);
      case 'break':
      case 'continue':
        this.#expect(`{{${type}}}`, 'rightDelimiter');
        return this.#scope.loops === 0 ? this.#fail(`{{${type}}} outside {{range}}`) : { kind: type };
      case 'else': {
        const { type: follows } = this.#peekNonSpace();
        if (follows === 'if' || follows === 'with') {
          return { kind: 'else', follows };
        }
        this.#expect('else', 'rightDelimiter');
        return { kind: 'else' };
      }
      case 'end':
        this.#expect('end', 'rightDelimiter');
        return { kind: 'end' };
      case 'if':
      case 'range':
      case 'with':
        return this.#branch(type);
      default:
        this.#next--;
        return { kind: 'action', pipe: this.#pipe('command', 'rightDelimiter') };
    }
  }

  /** A branch; one that follows it as `else if` or `else with` is in it, and has the same end. */
  #branch(kind: BranchNode['kind']): BranchNode {
    const { variables } = this.#scope;
    variables.push(new Set());
    const pipe = this.#pipe(kind, 'rightDelimiter');
    this.#scope.loops += kind === 'range' ? 1 : 0;
    const { body, end } = this.#body();
    this.#scope.loops -= kind === 'range' ? 1 : 0;
    let otherwise: readonly StatementNode[] = [];
    if (end.kind === 'else' && end.follows === kind) {
      this.#take();
      otherwise = [this.#nested(() => this.#branch(kind))];
    } else if (end.kind === 'else') {
      const last = this.#body();
      otherwise = last.end.kind === 'else' ? this.#fail('expected end; found {{else}}') : last.body;
    }
    variables.pop();
    return { kind, pipe, body, otherwise };
  }

  #template(type: 'block' | 'template'): TemplateNode {
    const context = `${type} clause`;
    const { at } = this.#peekNonSpace();
    const name = this.#nameIn(context);
    const node: TemplateNode = { kind: 'template', at, source: `template ${quoted(name)}`, name };
    if (type === 'template' && this.#peekNonSpace().type === 'rightDelimiter') {
      this.#take();
      return node;
    }
    const pipe = this.#pipe(context, 'rightDelimiter');
    if (type === 'block') {
      this.#inScope(() => this.#define(name, this.#bodyUntilEnd(context)));
    }
    return { ...node, source: `${node.source} ${pipe.source}`, pipe };
  }

  #declarations(context: string): { variables: Bytes[]; isAssignment: boolean } {
    const variables: Bytes[] = [];
    for (;;) {
      const variable = this.#peekNonSpace();
      const start = this.#next;
      if (variable.type !== 'variable') {
        return { variables, isAssignment: false };
      }
      this.#take();
      const { type, text } = this.#peekNonSpace();
      if (type !== 'assign' && type !== 'declare' && text !== ',') {
        this.#next = start;
        return { variables, isAssignment: false };
      }
      this.#take();
      variables.push(variable.text);
      this.#scope.variables.at(-1)?.add(variable.text);
      if (text !== ',') {
        return { variables, isAssignment: type === 'assign' };
      }
      if (context !== 'range' || variables.length === 2) {
        this.#fail(`too many declarations in ${context}`);
      }
      if (!['variable', 'rightDelimiter', 'rightParenthesis'].includes(this.#peekNonSpace().type)) {
        this.#fail('range can only initialize variables');
      }
    }
  }

  #pipe(context: string, end: string): PipeNode {
    const { at } = this.#peekNonSpace();
    const declared = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (let token = this.#peekNonSpace(); token.type !== end; token = this.#peekNonSpace()) {
      if (!operandStarts.has(token.type)) {
        this.#unexpected(token, context);
      }
      commands.push(this.#command());
    }
    const source = this.#since(at);
    this.#take();
    if (commands.length === 0) {
      this.#fail(`missing value for ${context}`);
    }
    const constant = commands.findIndex(({ first }, index) => index > 0 && constants.has(first.kind));
    return constant > 0
      ? this.#fail(`non executable command in pipeline stage ${constant + 1}`)
      : { kind: 'pipe', at, source, ...declared, commands };
  }

  #command(): CommandNode {
    const { at } = this.#peekNonSpace();
    const operands: OperandNode[] = [];
    let source = '';
    for (let next = ''; next === '' || next === 'space'; ) {
      const operand = this.#operand();
      if (operand !== undefined) {
        operands.push(operand);
        source = this.#since(at);
      }
      const token = this.#take();
      next = token.type;
      if (next === 'rightDelimiter' || next === 'rightParenthesis') {
        this.#next--;
      } else if (next !== 'space' && next !== 'pipe') {
        this.#unexpected(token, 'operand');
      }
    }
    const [first, ...args] = operands;
    return first === undefined ? this.#fail('empty command') : { kind: 'command', at, source, first, args };
  }

  #operand(): OperandNode | undefined {
    const { at: start } = this.#peekNonSpace();
    const term = this.#term();
    const { type, at } = this.#peek();
    if (term === undefined || type !== 'field') {
      return term;
    }
    if (constants.has(term.kind)) {
      this.#fail(`unexpected . after term ${quoted(term.source)}`);
    }
    const path: Bytes[] = [];
    while (this.#peek().type === 'field') {
      path.push(this.#take().text.slice(1));
    }
    const source = this.#since(start);
    return term.kind === 'field' || term.kind === 'variable'
      ? { ...term, at, source, path: [...term.path, ...path] }
      : { kind: 'chain', at, source, of: term, path };
  }

  #term(): OperandNode | undefined {
    const { type, at, text: source } = this.#peekNonSpace();
    if (!operandStarts.has(type)) {
      return undefined;
    }
    this.#take();
    const part = { at, source };
    switch (type) {
      case 'identifier':
        return this.#isFunction(source)
          ? { kind: 'function', ...part, name: source }
          : this.#fail(`function ${quoted(source)} not defined`);
      case '.':
        return { kind: 'dot', ...part };
      case 'nil':
        return { kind: 'nil', ...part };
      case 'variable':
        return this.#scope.variables.some((names) => names.has(source))
          ? { kind: 'variable', ...part, name: source, path: [] }
          : this.#fail(`undefined variable ${quoted(source)}`);
      case 'field':
        return { kind: 'field', ...part, path: [source.slice(1)] };
      case 'leftParenthesis':
        return this.#nested(() => this.#pipe('parenthesized pipeline', 'rightParenthesis'));
      default:
        return { kind: 'literal', ...part, ...literal(source, this.#fail) };
    }
  }
}

/** Parses a template of Go's text/template. @throws {TemplateError} with Go's message. */
export const parseTemplate = (text: Bytes, name: string, isFunction: (name: string) => boolean): ParsedTemplate =>
  new Parser(text, name, isFunction).parse();
