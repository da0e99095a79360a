import { Buffer } from 'node:buffer';
import { truncated, withoutControls } from '../../base/index.ts';
import {
  apiVersionOf,
  decodeExtensionConfig,
  defaultsOf,
  group,
  hubVersion,
  kind,
  runtimeSdkFeatureGate,
  type Version,
  versions,
} from '../../extensionconfig/index.ts';
import { type AdmissionRequest, isJsonObject, type JsonObject, objectAt, showValue } from '../../kubernetes/index.ts';
import type { Facts } from '../facts/store.ts';
import type { RuleInput, Subject } from '../rules/rule.ts';
import type { RuleSet } from '../rules/rule-set.ts';
import {
  type AdmissionOutcome,
  denyByGate,
  type Knowledge,
  outcomeOfDeletion,
  outcomeOfWrite,
  rejectMalformed,
  withKnowledge,
} from './response.ts';

export interface AdmissionPolicy {
  rules: RuleSet;
  /** Whether Cluster API's feature gate RuntimeSDK is enabled; if not, ExtensionConfigs cannot be written. */
  isRuntimeSdkEnabled: boolean;
  now: () => Date;
  facts?: (() => ClusterKnowledge) | undefined;
}

export interface ClusterKnowledge extends Knowledge {
  facts: Facts;
}

/** The decisions of the webhook, which never throw. */
export interface Admission {
  mutate(request: AdmissionRequest): AdmissionOutcome;
  /** @param known what is known for this request; default: what the policy's `facts` returns. */
  validate(request: AdmissionRequest, known?: ClusterKnowledge): AdmissionOutcome;
}

const hubApiVersion = apiVersionOf(hubVersion);

/** What a request that needs a decision writes. */
interface Write {
  object: JsonObject;
  oldObject: JsonObject | undefined;
  subject: Subject;
  writtenAs: Version;
}

/** Accounts that delete dependent objects, namespaces and definitions: a denial would leave things half deleted. */
const teardownAccount = /^system:(?:kube-controller-manager$|apiserver$|serviceaccount:kube-system:)/;

function isToBeJudged({ oldObject, subResource, username }: AdmissionRequest): boolean {
  const metadata = oldObject?.metadata;
  return (
    oldObject !== undefined &&
    subResource === '' &&
    !teardownAccount.test(username) &&
    // The deletion has begun.
    !(isJsonObject(metadata) && typeof metadata.deletionTimestamp === 'string')
  );
}

export function allow(uid: string): AdmissionOutcome {
  return { response: { uid, allowed: true }, verdict: 'allowed', deniedBy: [], warnedBy: [] };
}

function writeOf(request: AdmissionRequest): Write | AdmissionOutcome {
  const { uid, kind: requested, operation, object, oldObject, subResource } = request;
  if (requested.group !== group || requested.kind !== kind || requested.version !== hubVersion) {
    const got = `${requested.kind} ${requested.group}/${requested.version}`;
    return rejectMalformed(
      uid,
      `this webhook decides on ${kind} ${group}/${hubVersion}, not on ${showValue(got)}; fix the rules of the webhook configuration (resources [extensionconfigs, extensionconfigs/status], apiVersions [${hubVersion}], matchPolicy Equivalent)`,
    );
  }
  if (operation === 'CONNECT' || (operation === 'DELETE' && !isToBeJudged(request))) {
    return allow(uid);
  }
  if (operation === 'DELETE') {
    return { object: oldObject ?? {}, oldObject: undefined, subject: 'deletion', writtenAs: hubVersion };
  }
  if (object === undefined) {
    return rejectMalformed(uid, `request.object must be set for ${operation}`);
  }
  if (object.kind !== kind || object.apiVersion !== hubApiVersion) {
    return rejectMalformed(
      uid,
      `request.object must be an ${kind} of ${hubApiVersion} as request.kind says, got kind ${showValue(object.kind)} and apiVersion ${showValue(object.apiVersion)}`,
    );
  }
  if (subResource !== '' && subResource !== 'status') {
    return allow(uid);
  }
  if (
    operation === 'UPDATE' &&
    isJsonObject(object.metadata) &&
    typeof object.metadata.deletionTimestamp === 'string'
  ) {
    // All that remains is the removal of finalizers; denying it would keep the object forever.
    return allow(uid);
  }
  const written = request.requestKind;
  return {
    object,
    oldObject: operation === 'UPDATE' ? oldObject : undefined,
    subject: subResource === 'status' ? 'status' : 'object',
    writtenAs: (written.group === group && versions.find((version) => version === written.version)) || hubVersion,
  };
}

function nameOf(request: AdmissionRequest, object: JsonObject): string {
  const metadata = objectAt(object, 'metadata');
  const names = [request.name, metadata.name, metadata.generateName];
  const name = (names.find((candidate) => typeof candidate === 'string' && candidate !== '') as string) ?? '';
  return withoutControls(truncated(name, 253));
}

export function createAdmission({ rules, isRuntimeSdkEnabled, now, facts }: AdmissionPolicy): Admission {
  function mutate(request: AdmissionRequest): AdmissionOutcome {
    const write = writeOf(request);
    if ('response' in write) {
      return write;
    }
    const outcome = allow(request.uid);
    if (write.subject === 'deletion') {
      return outcome;
    }
    const patch = defaultsOf(write.object, write.subject);
    if (patch.length > 0) {
      outcome.response.patchType = 'JSONPatch';
      outcome.response.patch = Buffer.from(JSON.stringify(patch)).toString('base64');
    }
    return outcome;
  }

  function validate(request: AdmissionRequest, known = facts?.()): AdmissionOutcome {
    const write = writeOf(request);
    if ('response' in write) {
      return write;
    }
    const { object, oldObject, subject, writtenAs } = write;
    if (!isRuntimeSdkEnabled && subject === 'object') {
      return denyByGate(request.uid, nameOf(request, object), runtimeSdkFeatureGate);
    }
    const before = oldObject && decodeExtensionConfig(oldObject, hubVersion);
    const input: RuleInput = {
      ...decodeExtensionConfig(object, hubVersion),
      oldObject: before?.object,
      writtenAs,
      version: hubVersion,
      subject,
      isPruned: true,
      now: now(),
      facts: known?.facts,
    };
    const current = rules.check(input);
    const reports = before === undefined ? current : rules.ratchet(current, input, { ...input, ...before });
    const outcomeOf = subject === 'deletion' ? outcomeOfDeletion : outcomeOfWrite;
    const outcome =
      reports.length === 0 ? allow(request.uid) : outcomeOf(request.uid, nameOf(request, object), reports);
    return known === undefined ? outcome : withKnowledge(outcome, known);
  }

  return { mutate, validate };
}
