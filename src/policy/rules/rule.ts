import type { ExtensionConfig, SchemaViolation, Version } from '../../extensionconfig/index.ts';
import type { CauseReason, FieldPath } from '../../kubernetes/index.ts';
import type { HookCatalog, Release } from '../../runtimehooks/index.ts';
import type { Facts } from '../facts/store.ts';
import type { CaBundle, ClientUrl, PlacedHandler } from './fields.ts';

/** The effect of a finding: the request is denied, or the client gets a warning. */
export type Severity = 'deny' | 'warn';

/** A problem with a field. */
export interface Finding {
  path: FieldPath;
  reason: CauseReason;
  /** The invalid value, if there is one and it may be shown: never a secret. */
  value?: unknown;
  /** What is wrong and what to write instead, in one line without field and value. Only 1,000 characters are shown. */
  message: string;
  /** The message is shown without the field, for texts that are quoted word for word. */
  verbatim?: true;
}

/** A finding as a rule reports it; by default, the value is invalid. */
export type Reported = Omit<Finding, 'reason'> & Partial<Pick<Finding, 'reason'>>;

/** Which write is checked: the object itself, its status subresource, or a deletion (of `object`, as it is stored). */
export type Subject = 'object' | 'status' | 'deletion';

/** The input of a rule: the attributes of the write, and its objects. */
export interface RuleInput {
  /**
   * The object without what exceeds a limit of its schema, which limits the work of every rule. Those with `upstream: true`
   * get `whole` here, since Cluster API's webhook reads everything: they take time linear in the size of any value.
   */
  object: ExtensionConfig;
  /** The object with all values of the right types, whatever their length. */
  whole: ExtensionConfig;
  /** The object before an update. */
  oldObject?: ExtensionConfig | undefined;
  /** Where the object violates its version's schema. Fields of a wrong JSON type are absent from `object`. */
  violations: readonly SchemaViolation[];
  /** The version that the client wrote the object in. */
  writtenAs: Version;
  /** The version that the object has now: `writtenAs`, unless the API server has converted it. */
  version: Version;
  subject: Subject;
  /** Whether the API server has already pruned unknown fields, as it does before it calls any webhook. */
  isPruned: boolean;
  now: Date;
  /** Facts about the cluster; absent if nothing is known. */
  facts?: Facts | undefined;
  /** Where another object of the same name is (`FILE:LINE`), for objects in files. */
  namesake?: string | undefined;
}

/** The input of a rule, and the parts of `object` that several rules need, parsed once. */
export interface ParsedInput extends RuleInput {
  url: ClientUrl | undefined;
  caBundle: CaBundle | undefined;
  handlers: readonly PlacedHandler[];
}

/** The operator's configuration that rules depend on. */
export interface RuleOptions {
  /** `upstream`: exactly what Cluster API's own webhook says. Default: `strict`. */
  profile?: 'strict' | 'upstream';
  /** Longest timeout a handler may have, in seconds. Default: `advisedTimeoutSeconds`. */
  maxHandlerTimeoutSeconds?: number | undefined;
  /** Known hooks and API versions. Default: those of Cluster API. */
  hooks?: HookCatalog | undefined;
  /** The Cluster API release that the objects are intended for. */
  clusterApi: Release;
}

export interface Rule {
  id: string;
  summary: string;
  severity: Severity;
  /** Whether Cluster API's own webhook has the rule too. Such a rule cannot be turned off. */
  upstream?: boolean;
  /** The kinds of writes that it applies to; default: writes of the object itself. */
  subjects?: readonly Subject[];
  /** Without which it is skipped: facts about the cluster, or an object as a user wrote it, which is not pruned yet. */
  needs?: 'facts' | 'manifest';
  /** The API server has this check too, and explains it less helpfully: any other finding on the same field replaces it. */
  isFallback?: true;
  check(input: ParsedInput, report: (finding: Reported) => void, options: RuleOptions): void;
}

/** A finding with its rule and its severity. */
export interface RuleFinding extends Finding {
  rule: Pick<Rule, 'id' | 'upstream' | 'isFallback'>;
  severity: Severity;
  /** The path in Kubernetes' format, e.g. `spec.clientConfig.url`. */
  field: string;
}
