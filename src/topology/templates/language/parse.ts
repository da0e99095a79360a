import { type Bytes, quoted } from '../../../base/go-text/index.ts';
import { FunctionError, maxDepth, maxTokens, TemplateError, tooMuch } from '../budget.ts';
import { numberNode, unquoted } from './literals.ts';
import type { BranchNode, CommandNode, OperandNode, PipeNode, StatementNode, TemplateNode } from './nodes.ts';
import { showNode } from './nodes.ts';
import { showToken, type Token, type TokenType, tokensOf } from './tokens.ts';

/** A parsed template with those that it defines, by name. */
export interface ParsedTemplate {
  name: string;
  text: Bytes;
  bodies: ReadonlyMap<Bytes, readonly StatementNode[]>;
}

/** The end of a list of statements. */
type End = { kind: 'end' } | { kind: 'else'; follows?: 'if' | 'with' };

/** The state that differs between a template and those defined in it. */
interface Scope {
  /** Names of variables, by the blocks that are open. */
  variables: Set<Bytes>[];
  loops: number;
  /** Line of the action that is parsed; 0 outside of actions. */
  actionLine: number;
}

const operandStarts: ReadonlySet<string> = new Set(
  'bool charConstant . field identifier number nil rawString string variable leftParenthesis'.split(' '),
);

/** Operands that are neither called nor have fields. */
const constants: ReadonlySet<string> = new Set(['bool', 'dot', 'nil', 'number', 'string']);

function isEmpty(body: readonly StatementNode[]): boolean {
  return body.every((node) => node.kind === 'text' && /^[\t\n\v\f\r \x85\xa0]*$/.test(node.text));
}

function newScope(): Scope {
  return { variables: [new Set(['$'])], loops: 0, actionLine: 0 };
}

class Parser {
  readonly #text: Bytes;
  readonly #name: string;
  readonly #isFunction: (name: string) => boolean;
  readonly #tokens: Iterator<Token>;
  readonly #bodies = new Map<Bytes, readonly StatementNode[]>();
  /** Tokens that were read but not taken yet, the next one last. */
  readonly #ahead: Token[] = [];
  /** The last token that was read: errors name its line. */
  #last: Token = { type: 'eof', at: 0, text: '', line: 1 };
  #count = 0;
  #depth = 0;
  #scope = newScope();

  constructor(text: Bytes, name: string, isFunction: (name: string) => boolean) {
    this.#text = text;
    this.#name = name;
    this.#isFunction = isFunction;
    this.#tokens = tokensOf(text);
  }

  parse(): ParsedTemplate {
    const body: StatementNode[] = [];
    for (let token = this.#peek(); token.type !== 'eof'; token = this.#peek()) {
      if (token.type === 'leftDelimiter') {
        this.#take();
        if (this.#peekNonSpace().type === 'define') {
          this.#take();
          this.#inScope(() => this.#definition());
          continue;
        }
        this.#ahead.push(token);
      }
      const node = this.#statement();
      if (node.kind === 'end' || node.kind === 'else') {
        this.#fail(`unexpected {{${node.kind}}}`);
      }
      body.push(node);
    }
    this.#define(this.#name, body);
    return { name: this.#name, text: this.#text, bodies: this.#bodies };
  }

  #fail(message: Bytes): never {
    throw new TemplateError(`template: ${this.#name}:${this.#last.line}: ${message}`);
  }

  /** Runs what throws an error without a place. */
  #placed<T>(run: () => T): T {
    try {
      return run();
    } catch (error) {
      if (error instanceof FunctionError) {
        this.#fail(error.message);
      }
      throw error;
    }
  }

  #peek(): Token {
    const token = this.#take();
    this.#ahead.push(token);
    return token;
  }

  #take(): Token {
    const known = this.#ahead.pop();
    if (known === undefined) {
      const { done, value } = this.#tokens.next();
      this.#last = done === true ? this.#last : value;
      this.#count += this.#last.type === 'space' ? 0 : 1;
      if (this.#count > maxTokens) {
        throw tooMuch(`the template has more than ${maxTokens} tokens`);
      }
    }
    return known ?? this.#last;
  }

  #peekNonSpace(): Token {
    const token = this.#takeNonSpace();
    this.#ahead.push(token);
    return token;
  }

  #takeNonSpace(): Token {
    let token = this.#take();
    while (token.type === 'space') {
      token = this.#take();
    }
    return token;
  }

  #unexpected(token: Token, context: Bytes): never {
    if (token.type === 'error') {
      const { actionLine } = this.#scope;
      const start = ` started at ${this.#name}:${actionLine}`;
      const isElsewhere = actionLine !== 0 && actionLine !== token.line;
      this.#fail(token.text + (isElsewhere ? `${token.text.endsWith(' action') ? '' : ' in action'}${start}` : ''));
    }
    this.#fail(`unexpected ${showToken(token)} in ${context}`);
  }

  #expect(context: string, ...types: readonly TokenType[]): Token {
    const token = this.#takeNonSpace();
    return types.includes(token.type) ? token : this.#unexpected(token, context);
  }

  #define(name: Bytes, body: readonly StatementNode[]): void {
    const earlier = this.#bodies.get(name);
    if (earlier === undefined || isEmpty(earlier)) {
      this.#bodies.set(name, body);
    } else if (!isEmpty(body)) {
      this.#fail(`template: multiple definition of template ${quoted(name)}`);
    }
  }

  #inScope<T>(run: () => T): T {
    const outer = this.#scope;
    this.#scope = newScope();
    const result = run();
    this.#scope = outer;
    return result;
  }

  /** Limits recursion. */
  #nested<T>(run: () => T): T {
    if (this.#depth >= maxDepth) {
      throw tooMuch(`blocks and parentheses nest deeper than ${maxDepth} levels`);
    }
    this.#depth++;
    const result = run();
    this.#depth--;
    return result;
  }

  #definition(): void {
    const context = 'define clause';
    const name = this.#unquoted(this.#expect(context, 'string', 'rawString'));
    this.#expect(context, 'rightDelimiter');
    this.#define(name, this.#bodyUntilEnd(context));
  }

  #bodyUntilEnd(context: string): readonly StatementNode[] {
    const { body, end } = this.#body();
    if (end.kind === 'else') {
      this.#fail(`unexpected {{else}} in ${context}`);
    }
    return body;
  }

  #unquoted({ text }: Token): Bytes {
    return this.#placed(() => unquoted(text));
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
    this.#fail('unexpected EOF');
  }

  #statement(): StatementNode | End {
    const token = this.#takeNonSpace();
    if (token.type === 'text') {
      return { kind: 'text', text: token.text };
    }
    if (token.type !== 'leftDelimiter') {
      this.#unexpected(token, 'input');
    }
    this.#scope.actionLine = token.line;
    const node = this.#nested(() => this.#action());
    this.#scope.actionLine = 0;
    return node;
  }

  #action(): StatementNode | End {
    const token = this.#takeNonSpace();
    const { type } = token;
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
        this.#ahead.push(token);
        return { kind: 'action', at: token.at, pipe: this.#pipe('command', 'rightDelimiter') };
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
      if (last.end.kind === 'else') {
        this.#fail('expected end; found {{else}}');
      }
      otherwise = last.body;
    }
    variables.pop();
    return { kind, at: pipe.at, pipe, body, otherwise };
  }

  /** The call of a template, which a block defines as well. */
  #template(type: 'block' | 'template'): TemplateNode {
    const context = `${type} clause`;
    const { at } = this.#peekNonSpace();
    const name = this.#unquoted(this.#expect(context, 'string', 'rawString'));
    if (type === 'template' && this.#peekNonSpace().type === 'rightDelimiter') {
      this.#take();
      return { kind: 'template', at, name };
    }
    const pipe = this.#pipe(context, 'rightDelimiter');
    if (type === 'block') {
      this.#inScope(() => this.#define(name, this.#bodyUntilEnd(context)));
    }
    return { kind: 'template', at, name, pipe };
  }

  /** Variables that a pipeline declares or assigns to. */
  #declarations(context: string): { names: Bytes[]; isAssignment: boolean } {
    const names: Bytes[] = [];
    for (;;) {
      const variable = this.#peekNonSpace();
      if (variable.type !== 'variable') {
        return { names, isAssignment: false };
      }
      this.#take();
      const space = this.#peek();
      const following = this.#peekNonSpace();
      if (following.type === 'assign' || following.type === 'declare') {
        this.#take();
        this.#scope.variables.at(-1)?.add(variable.text);
        return { names: [...names, variable.text], isAssignment: following.type === 'assign' };
      }
      if (following.type !== 'char' || following.text !== ',') {
        this.#ahead.push(...(space === following ? [variable] : [space, variable]));
        return { names, isAssignment: false };
      }
      this.#take();
      names.push(variable.text);
      this.#scope.variables.at(-1)?.add(variable.text);
      if (context !== 'range' || names.length === 2) {
        this.#fail(`too many declarations in ${context}`);
      }
      if (!['variable', 'rightDelimiter', 'rightParenthesis'].includes(this.#peekNonSpace().type)) {
        this.#fail('range can only initialize variables');
      }
    }
  }

  #pipe(context: string, end: TokenType): PipeNode {
    const { at } = this.#peekNonSpace();
    const { names, isAssignment } = this.#declarations(context);
    const commands: CommandNode[] = [];
    for (;;) {
      const token = this.#peekNonSpace();
      if (token.type === end) {
        this.#take();
        this.#checkPipe(commands, context);
        return { kind: 'pipe', at, variables: names, isAssignment, commands };
      }
      if (!operandStarts.has(token.type)) {
        this.#take();
        this.#unexpected(token, context);
      }
      commands.push(this.#command());
    }
  }

  #checkPipe(commands: readonly CommandNode[], context: string): void {
    if (commands.length === 0) {
      this.#fail(`missing value for ${context}`);
    }
    for (const [index, { operands }] of commands.entries()) {
      if (index > 0 && constants.has(operands[0].kind)) {
        this.#fail(`non executable command in pipeline stage ${index + 1}`);
      }
    }
  }

  #command(): CommandNode {
    const { at } = this.#peekNonSpace();
    const operands: OperandNode[] = [];
    for (;;) {
      this.#peekNonSpace();
      const operand = this.#operand();
      if (operand !== undefined) {
        operands.push(operand);
      }
      const token = this.#take();
      if (token.type === 'space') {
        continue;
      }
      if (token.type === 'rightDelimiter' || token.type === 'rightParenthesis') {
        this.#ahead.push(token);
      } else if (token.type !== 'pipe') {
        this.#unexpected(token, 'operand');
      }
      break;
    }
    const [first, ...others] = operands;
    return first === undefined ? this.#fail('empty command') : { kind: 'command', at, operands: [first, ...others] };
  }

  #operand(): OperandNode | undefined {
    const term = this.#term();
    if (term === undefined) {
      return undefined;
    }
    const { type, at } = this.#peek();
    if (type !== 'field') {
      return term;
    }
    const path: Bytes[] = [];
    while (this.#peek().type === 'field') {
      path.push(this.#take().text.slice(1));
    }
    if (term.kind === 'field' || term.kind === 'variable') {
      return { ...term, at, path: [...term.path, ...path] };
    }
    return constants.has(term.kind)
      ? this.#fail(`unexpected . after term ${quoted(showNode(term))}`)
      : { kind: 'chain', at, of: term, path };
  }

  #term(): OperandNode | undefined {
    const token = this.#peekNonSpace();
    const { type, at, text } = token;
    if (!operandStarts.has(type)) {
      return undefined;
    }
    this.#take();
    switch (type) {
      case 'identifier':
        return this.#isFunction(text)
          ? { kind: 'function', at, name: text }
          : this.#fail(`function ${quoted(text)} not defined`);
      case '.':
        return { kind: 'dot', at };
      case 'nil':
        return { kind: 'nil', at };
      case 'variable':
        return this.#scope.variables.some((names) => names.has(text))
          ? { kind: 'variable', at, name: text, path: [] }
          : this.#fail(`undefined variable ${quoted(text)}`);
      case 'field':
        return { kind: 'field', at, path: [text.slice(1)] };
      case 'bool':
        return { kind: 'bool', at, value: text === 'true' };
      case 'charConstant':
      case 'number':
        return this.#placed(() => numberNode(text, at, type));
      case 'leftParenthesis':
        return this.#nested(() => this.#pipe('parenthesized pipeline', 'rightParenthesis'));
      default:
        return { kind: 'string', at, quoted: text, text: this.#unquoted(token) };
    }
  }
}

/**
 * Parses a template of Go's text/template.
 *
 * @throws {TemplateError} with Go's message.
 */
export function parseTemplate(text: Bytes, name: string, isFunction: (name: string) => boolean): ParsedTemplate {
  return new Parser(text, name, isFunction).parse();
}
