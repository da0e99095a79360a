import type { Severity } from '../rules/index.ts';

/** A place in a file. Lines and columns count from 1; columns in UTF-16 units, as editors do. */
export interface Place {
  file: string;
  line: number;
  column: number;
}

/** One finding of a rule in a manifest. */
export interface LintFinding extends Place {
  ruleId: string;
  severity: Severity;
  /** The field's path in Kubernetes' form, e.g. `spec.clientConfig.url`. */
  field: string;
  /** One line: field, value (never a secret), what is wrong and what to write instead. */
  message: string;
}

/** One ExtensionConfig that was checked. */
export interface LintedObject extends Place {
  /** `metadata.name`, or `metadata.generateName`; empty without either. */
  name: string;
  apiVersion: string;
  findings: readonly LintFinding[];
}

/** Something that could not be read or is no YAML. Without line and column when it concerns the file as a whole. */
export interface LintError {
  file: string;
  line?: number;
  column?: number;
  message: string;
}

/** What linting yields, in the order of the files. */
export type LintResult = { object: LintedObject } | { error: LintError };

/** What a run came to. */
export interface LintSummary {
  /** Number of files (and standard input) that were read. */
  files: number;
  /** Number of ExtensionConfigs that were checked. */
  objects: number;
  denials: number;
  warnings: number;
  errors: number;
}
