import type { Severity } from '../../policy/index.ts';

/** A position in a file. Lines and columns count from 1; columns in UTF-16 units, as in editors. */
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
  /** The field's path in Kubernetes' format, e.g. `spec.clientConfig.url`. */
  field: string;
  /** One line: field, value (never a secret), the problem and the remedy. */
  message: string;
}

export interface LintedObject extends FilePosition {
  /** `metadata.name`, or `metadata.generateName`; empty if there is neither. */
  name: string;
  apiVersion: string;
  findings: readonly LintFinding[];
}

/**
 * A file that could not be read, or a document that is not valid YAML or that kubectl refuses. Without line and column
 * if it concerns the whole file.
 */
export interface LintError {
  file: string;
  line?: number;
  column?: number;
  message: string;
}

/** The results of linting, in the order of the files. */
export type LintResult =
  | { object: LintedObject }
  | { error: LintError }
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
