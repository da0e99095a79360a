import { compareReleases, type Lifecycle, type Release } from './lifecycle.ts';
import type { MessageSchema } from './schema.ts';

/** How long Cluster API waits for an answer if the handler does not say, in seconds; for Discovery's, too. */
export const defaultTimeoutSeconds = 10;
/** Longest timeout of a handler that Cluster API accepts, in seconds. */
export const maxTimeoutSeconds = 30;
/** Longest timeout that is not warned about, in seconds: the Runtime SDK's recommendation. */
export const advisedTimeoutSeconds = 10;
/** Maximum number of handlers of one extension: what the status of an ExtensionConfig can hold. */
export const maxHandlers = 512;

/** A Runtime Hook in one version; `Request` and `Response` are the types of its messages. */
export interface HookDefinition<Request = object, Response = object> extends Lifecycle {
  /** One sentence: what the hook is for. */
  readonly summary: string;
  /** When it is called, and what the answer decides. */
  readonly purpose: string;
  /** For documentation; nothing is decided by them. */
  readonly tags: readonly string[];
  /**
   * Which handlers Cluster API calls: one without a name for each `server`; `all`; those that a ClusterClass has `named`;
   * the `only` one in the cluster: with two of them every decision fails.
   */
  readonly calls: 'server' | 'all' | 'named' | 'only';
  /** The subject of a request; `topology`: the templates of a Cluster, which `builtin` names. Undefined: no object. */
  readonly about: 'Cluster' | 'topology' | 'Machine' | 'MachineSet' | undefined;
  /** Whether handlers only answer a question, and have no effect on Clusters and Machines. */
  readonly isQuestion: boolean;
  /** Whether its response can ask the caller to retry later (`retryAfterSeconds`). */
  readonly isBlocking: boolean;
  readonly request: MessageDefinition;
  readonly response: MessageDefinition;
  readonly changes: readonly ReleaseChange[];
  /** Exists only in the type, never as a value. */
  readonly types?: { readonly request: Request; readonly response: Response };
}

/** The request of a hook, or its response. */
export interface MessageDefinition {
  /** `BeforeClusterUpgradeRequest`. */
  readonly kind: string;
  /** Name of its schema in an OpenAPI document. */
  readonly component: string;
  readonly schema: MessageSchema;
  /** The first releases of fields that came later than the hook. */
  readonly fieldsSince: Readonly<Record<string, Release>>;
}

/** A change of calls that the fields of a message do not show: without a new version of the hook, since v1alpha1 is alpha. */
export interface ReleaseChange {
  readonly release: Release;
  /** What changed, as half a sentence. */
  readonly text: string;
  /** Whether an extension written for earlier releases may break. */
  readonly isBreaking: boolean;
  readonly remedy: string;
  /** The version of the Cluster API objects in the messages until then, if the release changed it. */
  readonly coreBefore?: CoreVersion;
}

/** Versions of Cluster API's objects (Cluster, Machine, …) in messages. */
export type CoreVersion = 'v1beta1' | 'v1beta2';

/** The request type of a hook. */
export type RequestOf<Hook> = Hook extends HookDefinition<infer Request, infer _> ? Request : never;
/** The response type of a hook. */
export type ResponseOf<Hook> = Hook extends HookDefinition<infer _, infer Response> ? Response : never;

/** A message without the fields that came after a release. */
function messageIn(message: MessageDefinition, release: Release): MessageDefinition {
  const { schema, fieldsSince } = message;
  const later = new Set(
    Object.keys(fieldsSince).filter((field) => compareReleases(release, fieldsSince[field] ?? release) < 0),
  );
  if (later.size === 0) {
    return message;
  }
  const fields = Object.entries(schema.properties ?? {}).filter(([name]) => !later.has(name));
  const required = schema.required?.filter((name) => !later.has(name));
  return {
    ...message,
    schema: { ...schema, ...(required !== undefined && { required }), properties: Object.fromEntries(fields) },
  };
}

/** A hook with the fields and the changes that it has in a release. */
export function hookIn<Request, Response>(
  hook: HookDefinition<Request, Response>,
  release: Release,
): HookDefinition<Request, Response> {
  return {
    ...hook,
    request: messageIn(hook.request, release),
    response: messageIn(hook.response, release),
    changes: hook.changes.filter((change) => compareReleases(release, change.release) >= 0),
  };
}

/** The version of the Cluster API objects in the messages of a hook, as a release has it. */
export function coreVersionIn({ changes }: HookDefinition, release: Release): CoreVersion {
  const next = changes.find(
    ({ release: since, coreBefore }) => coreBefore !== undefined && compareReleases(release, since) < 0,
  );
  return next?.coreBefore ?? 'v1beta2';
}

/** A hook in the notation for users: `hooks.runtime.cluster.x-k8s.io/v1alpha1, Hook=BeforeClusterCreate`. */
export function formatHook({ group, version, name }: { group: string; version: string; name: string }): string {
  return `${group}/${version}, Hook=${name}`;
}

/** The group and name of a hook, regardless of its version: `BeforeClusterCreate.hooks.runtime.cluster.x-k8s.io`. */
export function formatGroupHook({ group, name }: { group: string; name: string }): string {
  return `${name}.${group}`;
}
