import type { Severity } from '../../policy/index.ts';

/** Lines and columns count from 1; columns in UTF-16 units, as in editors. */
interface FilePosition {
  file: string;
  line: number;
  column: number;
}

export interface LintFinding extends FilePosition {
  /** The position after the field. */
  endLine?: number;
  endColumn?: number;
  ruleId: string;
  severity: Severity;
  field: string;
  message: string;
}

export interface LintedObject extends FilePosition {
  /** `metadata.name`, or `metadata.generateName`; empty if there is neither. */
  name: string;
  apiVersion: string;
  findings: readonly LintFinding[];
}

/** A file that could not be read (without a line), or a document that is not valid YAML or that kubectl refuses. */
export interface LintError {
  file: string;
  line?: number;
  column?: number;
  message: string;
}

export type LintResult =
  | { object: LintedObject }
  | { error: LintError }
  | { fixed: { file: string; objects: number } }
  /** A file that is a patch of a kustomization, and so has only parts of objects. */
  | { patch: string }
  /** A file without Kubernetes objects: the number of its documents, and the line of the first. */
  | { skipped: { file: string; documents: number; line: number } }
  /** A comment that turns off a rule which reports nothing there. */
  | { unused: { file: string; line: number; ruleId: string } };

export interface LintSummary {
  /** Number of files (and standard input) that were read. */
  files: number;
  objects: number;
  denials: number;
  warnings: number;
  errors: number;
  /** Number of documents without a kind, in files without Kubernetes objects. */
  skipped: number;
}
