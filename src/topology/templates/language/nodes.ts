import type { Bytes } from '../../../base/go-text/index.ts';
import { quoted } from '../../../base/go-text/index.ts';

/** A number in a template. Which types it fits is known when it is parsed, which one it gets only when it is used. */
export interface NumberNode {
  kind: 'number';
  at: number;
  text: Bytes;
  int?: bigint;
  float?: number;
}

/** An operand of a command. `at` is the offset in the text, in bytes. */
export type OperandNode =
  | { kind: 'dot'; at: number }
  | { kind: 'nil'; at: number }
  | { kind: 'bool'; at: number; value: boolean }
  | { kind: 'string'; at: number; quoted: Bytes; text: Bytes }
  | { kind: 'function'; at: number; name: Bytes }
  | { kind: 'field'; at: number; path: readonly Bytes[] }
  | { kind: 'variable'; at: number; name: Bytes; path: readonly Bytes[] }
  | { kind: 'chain'; at: number; of: OperandNode; path: readonly Bytes[] }
  | NumberNode
  | PipeNode;

export interface CommandNode {
  kind: 'command';
  at: number;
  operands: readonly [OperandNode, ...OperandNode[]];
}

export interface PipeNode {
  kind: 'pipe';
  at: number;
  /** Variables that it declares, or assigns to. */
  variables: readonly Bytes[];
  isAssignment: boolean;
  commands: readonly CommandNode[];
}

export interface TemplateNode {
  kind: 'template';
  at: number;
  name: Bytes;
  pipe?: PipeNode;
}

export interface BranchNode {
  kind: 'if' | 'with' | 'range';
  at: number;
  pipe: PipeNode;
  body: readonly StatementNode[];
  otherwise: readonly StatementNode[];
}

export type StatementNode =
  | { kind: 'text'; text: Bytes }
  | { kind: 'action'; at: number; pipe: PipeNode }
  | { kind: 'break' }
  | { kind: 'continue' }
  | TemplateNode
  | BranchNode;

/** A node that an error can name as its place. */
export type PlaceNode =
  | OperandNode
  | CommandNode
  | TemplateNode
  | BranchNode
  | { kind: 'action'; at: number; pipe: PipeNode };

function operandText(node: OperandNode): Bytes {
  const text = showNode(node);
  return node.kind === 'pipe' ? `(${text})` : text;
}

/** A node as Go writes it in errors. */
export function showNode(node: PlaceNode): Bytes {
  switch (node.kind) {
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'string':
      return node.quoted;
    case 'number':
      return node.text;
    case 'function':
      return node.name;
    case 'field':
      return node.path.map((name) => `.${name}`).join('');
    case 'variable':
      return [node.name, ...node.path].join('.');
    case 'chain':
      return [operandText(node.of), ...node.path].join('.');
    case 'command':
      return node.operands.map(operandText).join(' ');
    case 'pipe': {
      const commands = node.commands.map(showNode).join(' | ');
      return node.variables.length === 0
        ? commands
        : `${node.variables.join(', ')} ${node.isAssignment ? '=' : ':='} ${commands}`;
    }
    case 'action':
      return `{{${showNode(node.pipe)}}}`;
    case 'template':
      return `{{template ${quoted(node.name)}${node.pipe === undefined ? '' : ` ${showNode(node.pipe)}`}}}`;
    default:
      return `{{${node.kind} ${showNode(node.pipe)}}}`;
  }
}
