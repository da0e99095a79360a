import type { ExtensionConfig, SchemaViolation, Version } from '../api/index.ts';
import type { HookCatalog, Release } from '../hooks/index.ts';
import type { CauseReason, FieldPath, JsonObject } from '../kubernetes/index.ts';

/** What a finding leads to: the object is refused, or whoever writes it is told. */
export type Severity = 'deny' | 'warn';

/** One problem of one field. */
export interface Finding {
  path: FieldPath;
  reason: CauseReason;
  /** The bad value, when there is one that may be shown: never a secret. */
  value?: unknown;
  /** What is wrong and what to write instead: one line, without the field and the value. */
  message: string;
  /** The message stands for itself, without the field: for texts that others give word for word. */
  verbatim?: true;
}

/** Which write is checked: the object itself, or its status subresource. */
export type Subject = 'object' | 'status';

/** A part of what is checked that may be absent. */
export type Part = 'url' | 'service' | 'caBundle' | 'handlers' | 'settings' | 'violations';

/** Everything that a rule may look at. */
export interface RuleInput {
  /**
   * Within the limits of its schema: what is over one is absent, so that no rule's work is larger than the limits allow.
   * Rules with `upstream: true` are given `whole` here instead, since Cluster API's webhook reads everything: they must
   * read any value in one pass.
   */
  object: ExtensionConfig;
  /** The object with all values of the right types, of any length. */
  whole: ExtensionConfig;
  /** The object as it was before an update; decoded when a rule asks for it, since hardly one does. */
  oldObject?: (() => ExtensionConfig) | undefined;
  /** Where the object does not fit its version's schema. Parts of a wrong JSON type are absent from `object`. */
  violations: readonly SchemaViolation[];
  /** The version whoever wrote the object used. */
  writtenAs: Version;
  /** The version the object is in now: `writtenAs`, unless the API server has converted it. */
  version: Version;
  subject: Subject;
  /** Whether the API server has dropped unknown fields already, as it does before any webhook sees an object. */
  isPruned: boolean;
  now: Date;
}

/** What an operator sets, for the rules that depend on it. */
export interface RuleOptions {
  /** Longest timeout a handler may have, in seconds. */
  maxHandlerTimeoutSeconds: number;
  /** Known hooks and API versions. */
  hooks: HookCatalog;
  /** The Cluster API release that the objects are meant for. */
  clusterApi: Release;
}

/** What the documentation of a rule shows. */
export interface Example {
  /** A manifest with a finding of the rule. */
  bad: JsonObject;
  /** The same manifest, fixed. */
  good: JsonObject;
  /** When the manifests are checked, for rules that look at the clock; 1 January 2026 if absent. */
  checkedAt?: Date;
}

/** A rule is data plus one function. */
export interface Rule {
  id: string;
  /** One sentence: what is checked. */
  summary: string;
  severity: Severity;
  /** Whether Cluster API's own webhook has the rule too. Such a rule cannot be turned off. */
  upstream: boolean;
  /** The writes that it applies to. */
  subjects: readonly Subject[];
  /** The part that it is about: without that part it has nothing to say, and is not asked. */
  about?: Part;
  /** The API server has this check too and words it less helpfully: a finding gives way to any other on its field. */
  givesWay?: true;
  /** Reports every finding. (A callback, and no list or generator: on a good object 40 rules then allocate nothing.) */
  check(input: RuleInput, report: (finding: Finding) => void, options: RuleOptions): void;
  example: Example;
}
