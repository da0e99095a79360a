import type { Bytes } from '../../../base/go-text/index.ts';

/** A part of an action. Errors name it by its offset in bytes, which need not be where its source begins. */
interface Part<Kind extends string> {
  kind: Kind;
  at: number;
  source: Bytes;
}

export interface LiteralNode extends Part<'literal'> {
  /** Where no type is asked for; undefined for an integer that is too large. */
  value: boolean | Bytes | number | bigint | undefined;
  /** As an argument, by the types of parameters that it fits. */
  fits: { bool?: boolean; string?: Bytes; float64?: number; int?: bigint };
}

export type OperandNode =
  | Part<'dot' | 'nil'>
  | (Part<'function'> & { name: Bytes })
  | (Part<'field'> & { path: readonly Bytes[] })
  | (Part<'variable'> & { name: Bytes; path: readonly Bytes[] })
  | (Part<'chain'> & { of: OperandNode; path: readonly Bytes[] })
  | LiteralNode
  | PipeNode;

export interface CommandNode extends Part<'command'> {
  first: OperandNode;
  args: readonly OperandNode[];
}

export interface PipeNode extends Part<'pipe'> {
  /** Variables that it declares, or assigns to. */
  variables: readonly Bytes[];
  isAssignment: boolean;
  commands: readonly CommandNode[];
}

export interface TemplateNode extends Part<'template'> {
  name: Bytes;
  pipe?: PipeNode;
}

export interface BranchNode {
  kind: 'if' | 'with' | 'range';
  pipe: PipeNode;
  body: readonly StatementNode[];
  otherwise: readonly StatementNode[];
}

export type StatementNode =
  | { kind: 'text'; text: Bytes }
  | { kind: 'action'; pipe: PipeNode }
  | { kind: 'break' | 'continue' }
  | TemplateNode
  | BranchNode;

/** A node that an error can name as its place. */
export type PlaceNode = OperandNode | CommandNode | TemplateNode;
