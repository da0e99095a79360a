import type { AdmissionRequest, JsonObject } from '../../../src/kubernetes/index.ts';
import {
  type Admission,
  type AdmissionPolicy,
  createAdmission,
  createRuleSet,
  type RuleSetOptions,
} from '../../../src/policy/index.ts';
import { createHookCatalog, newestKnownRelease } from '../../../src/runtimehooks/index.ts';

/** A time at which the certificates of the examples are valid or expired as they should be. */
export const now = new Date('2026-11-20T12:00:00Z');

/** Options of a rule set: the defaults of the program, and a test's changes. */
export function ruleSetOptions(options: Partial<RuleSetOptions> = {}): RuleSetOptions {
  return {
    profile: 'strict',
    enforcement: 'deny',
    maxHandlerTimeoutSeconds: 10,
    hooks: createHookCatalog(),
    clusterApi: newestKnownRelease,
    ...options,
  };
}

/** Admission with the program's defaults and the feature gate on, apart from a test's changes. */
export function admission(options: Partial<RuleSetOptions & AdmissionPolicy> = {}): Admission {
  return createAdmission({
    rules: options.rules ?? createRuleSet(ruleSetOptions(options)),
    isRuntimeSdkEnabled: options.isRuntimeSdkEnabled ?? true,
    now: () => now,
    facts: options.facts,
  });
}

const kind = { group: 'runtime.cluster.x-k8s.io', version: 'v1beta2', kind: 'ExtensionConfig' };

/** A request as the API server sends it for an object, apart from a test's changes. */
export function requestFor(object: JsonObject | undefined, more: Partial<AdmissionRequest> = {}): AdmissionRequest {
  const metadata = (object?.metadata ?? {}) as JsonObject;
  return {
    uid: 'a-uid',
    kind,
    requestKind: kind,
    subResource: '',
    name: typeof metadata.name === 'string' ? metadata.name : '',
    namespace: '',
    operation: 'CREATE',
    username: 'admin',
    object,
    oldObject: undefined,
    dryRun: false,
    ...more,
  };
}
