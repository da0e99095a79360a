import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Node, parseSync } from 'oxc-parser';
import { analyse } from 'scslre';

/** A regular expression in the source, and where it is. */
export interface FoundExpression {
  file: string;
  source: string;
  flags: string;
}

/** The regular expressions of a source tree; `computed` lists the places where one is built from a value. */
export interface FoundExpressions {
  expressions: FoundExpression[];
  computed: string[];
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && 'type' in value;
}

function walk(value: unknown, visit: (node: Node) => void): void {
  if (Array.isArray(value)) {
    for (const item of value) {
      walk(item, visit);
    }
  } else if (isNode(value)) {
    visit(value);
    for (const key in value) {
      walk(value[key as keyof Node], visit);
    }
  }
}

/** Words after which a slash begins an expression. Names of properties and variables cannot be among them. */
const keywords = 'await|case|default|delete|do|else|extends|in|instanceof|new|of|return|throw|typeof|void|yield';
const start = new RegExp(
  `(?:^|[(,=:[!&|?{<>;+\\-%~^]|\\)(?=\\s*/\\S)|\\*\\s|\\*/|\\b(?:${keywords}))\\s*/(?![/*])|\\b(?:RegExp|pattern)\\b`,
  'm',
);

/**
 * Whether a file can have an expression, as one of four has: the syntax trees of the others need not be read. The slash
 * at the start of one comes after an operator, an opening bracket, the condition of a statement, a keyword, a comment, or
 * at the start of a line; after an operand it would divide. Slashes in comments and strings may look the same.
 */
export function mayHaveExpressions(text: string): boolean {
  return start.test(text);
}

/**
 * Reads all regular expressions of the TypeScript files below a folder: literals, and the `pattern`s of JSON Schemas.
 */
export function readExpressions(tree: string): FoundExpressions {
  const result: FoundExpressions = { expressions: [], computed: [] };
  for (const file of globSync('**/*.ts', { cwd: tree }).sort()) {
    const text = readFileSync(join(tree, file), 'utf8');
    if (!mayHaveExpressions(text)) {
      continue;
    }
    const { program } = parseSync(file, text);
    walk(program, (node) => {
      if (node.type === 'Literal' && 'regex' in node) {
        result.expressions.push({ file, source: node.regex.pattern, flags: node.regex.flags });
      } else if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'pattern') {
        if (node.value.type === 'Literal' && typeof node.value.value === 'string') {
          result.expressions.push({ file, source: node.value.value, flags: 'u' });
        }
      } else if (node.type === 'NewExpression' || node.type === 'CallExpression') {
        if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') {
          result.computed.push(file);
        }
      }
    });
  }
  return result;
}

/**
 * Why an expression may take more than linear time, polynomial or exponential, with the character that causes it;
 * undefined if it does not.
 */
export function superLinear({ source, flags }: Pick<FoundExpression, 'source' | 'flags'>): string | undefined {
  const { reports } = analyse({ source, flags });
  return reports.length === 0
    ? undefined
    : `/${source}/${flags}: ${reports.map(({ type, character }) => `${type} with ${JSON.stringify(character.pick)}`).join(', ')}`;
}
