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

function walk(node: Node, visit: (node: Node) => void): void {
  visit(node);
  for (const child of Object.values(node).flat()) {
    if (isNode(child)) {
      walk(child, visit);
    }
  }
}

/**
 * Reads all regular expressions of the TypeScript files below a folder: literals, and the `pattern`s of JSON Schemas.
 */
export function readExpressions(tree: string): FoundExpressions {
  const found: FoundExpressions = { expressions: [], computed: [] };
  for (const file of globSync('**/*.ts', { cwd: tree }).sort()) {
    const { program } = parseSync(file, readFileSync(join(tree, file), 'utf8'));
    walk(program, (node) => {
      if (node.type === 'Literal' && 'regex' in node) {
        found.expressions.push({ file, source: node.regex.pattern, flags: node.regex.flags });
      } else if (node.type === 'Property' && node.key.type === 'Identifier' && node.key.name === 'pattern') {
        if (node.value.type === 'Literal' && typeof node.value.value === 'string') {
          found.expressions.push({ file, source: node.value.value, flags: 'u' });
        }
      } else if (node.type === 'NewExpression' || node.type === 'CallExpression') {
        if (node.callee.type === 'Identifier' && node.callee.name === 'RegExp') {
          found.computed.push(file);
        }
      }
    });
  }
  return found;
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
