import { Worker } from 'node:worker_threads';
import type { Registry } from 'prom-client';
import type { Log } from '../../base/index.ts';
import { metricsIn } from '../../base/metrics/index.ts';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import {
  type AdmissionRequest,
  type AdmissionResponse,
  failure,
  fieldAt,
  groupOf,
  objectAt,
  objectsAt,
  textAt,
} from '../../kubernetes/index.ts';
import { type AdmissionOutcome, allow, type Facts, type ImpactConfig, referencesTo } from '../../policy/index.ts';
import { coreGroup } from '../../runtimehooks/index.ts';
import { type Change, replacementOf, touchesMachines } from './impact.ts';
import {
  type Answer,
  type FromThread,
  monotonicMs,
  type Question,
  type Reason,
  reasons,
  type ThreadSettings,
  unplanned,
} from './messages.ts';
import { allowAnnotation, isPermitted } from './permission.ts';
import { cut, planCommand } from './warnings.ts';

/** Longest time until a review is answered, in ms; long with calls of extensions or where replacements need a permission. */
const budgetMs = { usual: 850, long: 4_700 };
/** What is left of it for the answer, in ms. */
const answerMs = 150;
/** A thread that is that late has hung, in ms. */
const hungMs = 10_000;
const restartMs = 5_000;
/** Writes that wait: each has its object in memory. */
const maxWaiting = 32;
const maxHeapMb = 512;

export interface ImpactSettings extends Omit<ThreadSettings, 'newest' | 'denies'> {
  config: ImpactConfig;
  /** Default: no namespace asks for permissions before there is a plan. */
  facts?: (() => Facts) | undefined;
  log: Log;
}

const results = ['nothing', 'warned', 'denied', 'unknown', 'undecided'] as const;
type Result = (typeof results)[number];

/** What is reviewed when it is deleted, and when it is written, by group and kind; templates of providers, too. */
const deleted: ReadonlySet<string> = new Set([`${coreGroup} Cluster`, ' Namespace']);
const written: ReadonlySet<string> = new Set([
  ...['Cluster', 'ClusterClass'].map((kind) => `${coreGroup} ${kind}`),
  `${runtimeGroup} ExtensionConfig`,
]);

function isReviewed({ kind: { group, kind }, operation, subResource, oldObject }: AdmissionRequest): boolean {
  const name = `${group} ${kind}`;
  const isWrite = operation === 'UPDATE' || operation === 'CREATE';
  const isTemplate = kind.endsWith('Template') && group.endsWith(`.${coreGroup}`);
  // Its deletion was reviewed.
  const isGoing = deleted.has(name) && fieldAt(oldObject, 'metadata', 'deletionTimestamp') !== undefined;
  const isSubject = operation === 'DELETE' ? deleted.has(name) : isWrite && (written.has(name) || isTemplate);
  return subResource === '' && !isGoing && isSubject;
}

const namespaceController = 'system:serviceaccount:kube-system:namespace-controller';

/** The accounts that delete what is in a namespace or of a definition that is deleted already. */
const deletingAccounts: readonly string[] = ['system:kube-controller-manager', 'system:apiserver', namespaceController];

/** Whether the author is the controller of the object or its owner, whose writes follow from what somebody else wrote. */
function isOfController(
  { username, operation, kind, oldObject }: AdmissionRequest,
  accounts: ImpactConfig['controllers'],
): boolean {
  const group = accounts[username.replace(/^system:serviceaccount:/, '')];
  const owners = objectsAt(oldObject, 'metadata', 'ownerReferences');
  const owner = owners.find(({ controller }) => controller === true);
  const groups = [kind.group, ...(owner === undefined ? [] : [groupOf(owner)])];
  // The garbage collector deletes what has owners: a Cluster goes with an object whose deletion nobody reviewed.
  const isTornDown = username === namespaceController || (deletingAccounts.includes(username) && owners.length === 0);
  const isAccount = username.startsWith('system:serviceaccount:') && group !== undefined;
  return (
    (operation === 'DELETE' && isTornDown) ||
    (isAccount && groups.some((one) => one === group || one.endsWith(`.${group}`)))
  );
}

function namespacesOf({ kind, namespace, name }: AdmissionRequest, facts: Facts): ReadonlySet<string> | undefined {
  const ofClasses = (matches: (clusterClass: string) => boolean) =>
    facts.clusters &&
    new Set([...facts.clusters.values()].flatMap((one) => (matches(one.clusterClass ?? '') ? [one.namespace] : [])));
  switch (kind.kind) {
    case 'Cluster':
      return new Set([namespace]);
    case 'Namespace':
      return new Set([name]);
    case 'ClusterClass':
      return ofClasses((clusterClass) => clusterClass === `${namespace}/${name}`);
    case 'ExtensionConfig': {
      const references = referencesTo(name, facts);
      const classes = new Set(references?.map(({ clusterClass }) => clusterClass));
      return references && ofClasses((clusterClass) => classes.has(clusterClass));
    }
    default:
      return ofClasses((clusterClass) => clusterClass.startsWith(`${namespace}/`));
  }
}

/** What a review decides by: two with the same are the same. */
function keyOf({ kind, operation, namespace, name, object, oldObject, dryRun }: AdmissionRequest, isGuarded: boolean) {
  const read = (one: AdmissionRequest['object']) => {
    const { labels = null, annotations = null, resourceVersion = null } = objectAt(one, 'metadata');
    return [labels, annotations, one?.spec ?? null, one === oldObject ? resourceVersion : null];
  };
  return JSON.stringify([kind, operation, namespace, name, read(object), read(oldObject), dryRun, isGuarded]);
}

const warned = (uid: string, warnings: string[], auditAnnotations: Record<string, string>): AdmissionOutcome => ({
  response: { uid, allowed: true, warnings: warnings.map((line) => cut(line, 256)), auditAnnotations },
  verdict: 'warned',
  deniedBy: [],
  warnedBy: ['impact'],
});

/** @param namespaces that do not permit the write; an empty one if it is not known which. */
function denied(
  { uid, name, namespace, kind, operation, object }: AdmissionRequest,
  { lines, hash, deniedIn }: Pick<Answer, 'lines' | 'hash' | 'deniedIn'>,
  namespaces: readonly string[],
  annotations: Record<string, string>,
): AdmissionOutcome {
  const isDeleted = operation === 'DELETE';
  const isThere = !isDeleted && textAt(object, 'metadata', 'annotations', allowAnnotation) === 'true';
  const note = isThere
    ? ' (the "true" that an earlier write set does not count: remove it first, or set the other)'
    : '';
  const values = [...(hash === undefined ? [] : [`"${hash}" (this plan)`]), ...(isDeleted ? [] : ['"true"'])];
  const condition = isDeleted
    ? `if the annotation ${allowAnnotation} is ${values.join(' or ')} before`
    : `if the same write sets the annotation ${allowAnnotation} to ${values.join(' or ')}${note}`;
  const where = namespaces.map((one) => (one === '' ? 'any namespace' : `namespace ${one}`)).join(', ');
  const what =
    deniedIn.length === 0
      ? `What is not known is permitted in ${where}`
      : `Machines in ${where} are ${isDeleted ? 'deleted' : 'replaced'}`;
  const last = isDeleted ? '' : `; to see the plan: ${planCommand}`;
  const message = `${lines.join('; ')}. ${what} only ${values.length === 0 ? 'when it is: try again' : `${condition}${last}`}`;
  const subject = namespace === '' || kind.kind === 'Namespace' ? name : `${namespace}/${name}`;
  const response: AdmissionResponse = {
    uid,
    allowed: false,
    status: failure(403, 'Forbidden', `${kind.kind} ${subject} ${message}`),
    auditAnnotations: { ...annotations, 'denied-by': 'impact' },
  };
  return { response, verdict: 'denied', deniedBy: ['impact'], warnedBy: [] };
}

/** Those that alerts add up are there before the first event. */
export function createImpactMetrics(registry: Registry, prefix: string) {
  const { counterOf } = metricsIn(registry, prefix);
  return {
    reviewed: counterOf(
      'impact_reviews_total',
      'Writes judged by what they do to Machines, by result: nothing, warned, denied, unknown, undecided (unknown where that needs a permission).',
      'result',
      results,
    ),
    unknown: counterOf(
      'impact_not_known_total',
      'Judged writes with an unknown effect, by reason: late (no plan in time), bug, reading (objects not read yet, or stale), extension (another release), plan (the plan says why).',
      'reason',
      reasons,
    ),
  };
}

/** Writes that may replace Machines are planned in a thread of their own. */
export function createImpactReviews({ log, config, facts, ...settings }: ImpactSettings) {
  const newest = new Int32Array(new SharedArrayBuffer(4));
  /** Answers that are under way, for other reviews that are the same. */
  const shared = new Map<string, Promise<Answer>>();
  const waiting = new Map<number, (answer: Answer) => void>();
  let metrics: ReturnType<typeof createImpactMetrics> | undefined;
  let number = 0;
  const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>();
  let isReady = false;
  let isStopped = false;
  let thread = startThread();

  function startThread(): Worker {
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: { ...settings, denies: config.denies, newest } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    started.on('message', (message: FromThread) => {
      const { is: _is, ...fields } = message;
      if (message.is === 'ready') {
        isReady = true;
        becomeReady();
      } else if (message.is === 'answer') {
        waiting.get(message.answer.number)?.(message.answer);
      } else if (message.is === 'bug') {
        log.error(fields, 'a plan failed: this is a bug');
      } else if (message.problem === undefined) {
        log.info({ resource: message.resource }, 'objects for plans are up to date again');
      } else {
        log.warn(fields, 'objects for plans may be stale or missing');
      }
    });
    started.on('error', (error: Error) => {
      log.error({ problem: error.message }, 'the thread that plans writes failed');
    });
    started.once('exit', () => {
      isReady = false;
      for (const [own, settle] of [...waiting]) {
        settle(unplanned(own, 'late'));
      }
      if (!isStopped) {
        setTimeout(() => {
          if (!isStopped) {
            thread = startThread();
          }
        }, restartMs).unref();
      }
    });
    started.unref();
    return started;
  }

  function ask(question: Pick<Question, 'object' | 'old' | 'isGuarded' | 'isDryRun'>): Promise<Answer> {
    const { promise, resolve } = Promise.withResolvers<Answer>();
    const withinMs = question.isGuarded || settings.callsExtensions ? budgetMs.long : budgetMs.usual;
    number = (number + 1) % 2 ** 30;
    const own = number;
    const asked = thread;
    const late = setTimeout(() => resolve(unplanned(own, 'late')), withinMs);
    const hung = setTimeout(() => {
      log.error('the thread that plans writes hangs: another one is started');
      void asked.terminate();
    }, withinMs + hungMs).unref();
    waiting.set(own, (answer) => {
      clearTimeout(hung);
      clearTimeout(late);
      waiting.delete(own);
      resolve(answer);
    });
    Atomics.store(newest, 0, own);
    thread.postMessage({
      ...question,
      number: own,
      deadlineMs: monotonicMs() + withinMs - answerMs,
    } satisfies Question);
    return promise;
  }

  async function answerTo(request: AdmissionRequest, change: Change, isGuarded: boolean): Promise<Answer> {
    const key = keyOf(request, isGuarded);
    const others = shared.get(key);
    if (others !== undefined) {
      return others;
    }
    if (waiting.size >= maxWaiting || (request.operation === 'CREATE' && !isReady && !isGuarded)) {
      return unplanned(0, 'late');
    }
    const answer = ask({ ...change, isGuarded, isDryRun: request.dryRun }).finally(() => shared.delete(key));
    shared.set(key, answer);
    return answer;
  }

  /** The namespaces that ask for a permission, before there is a plan; undefined if that is not known. */
  function guardedBy(request: AdmissionRequest): string[] | undefined {
    if (!config.denies || facts === undefined) {
      return [];
    }
    const known = facts();
    const namespaces = namespacesOf(request, known);
    const labels = known.namespaces;
    return namespaces && labels && [...namespaces].filter((one) => replacementOf(labels.get(one)) === 'deny');
  }

  function counted(result: Result, reason: Reason | undefined, outcome: AdmissionOutcome): AdmissionOutcome {
    metrics?.reviewed.inc({ result });
    if (reason !== undefined) {
      metrics?.unknown.inc({ reason });
    }
    return outcome;
  }

  return {
    ready,
    async review(request: AdmissionRequest): Promise<AdmissionOutcome> {
      const { uid, operation, oldObject: old } = request;
      const object = operation === 'DELETE' ? undefined : request.object;
      const change: Change = { object, old };
      if (!isReviewed(request) || isOfController(request, config.controllers)) {
        return allow(uid);
      }
      const guarded = guardedBy(request);
      const isGuarded = guarded === undefined || guarded.length > 0;
      const answer = await answerTo(request, change, isGuarded);
      const { replaced, deleted, clusters, planned, lines, hash, unknown: reason, deniedIn } = answer;
      const isPlanned = reason === undefined || clusters > 0;
      const isOpen = isGuarded && touchesMachines(change) && !isPermitted(change, undefined);
      if (!isPlanned && operation === 'CREATE' && !isOpen) {
        // Hardly anything depends on what is created.
        return allow(uid);
      }
      const undecidedIn = isPlanned ? answer.undecidedIn : isOpen ? (guarded ?? ['']) : [];
      if (lines.length === 0 && undecidedIn.length === 0) {
        return counted('nothing', undefined, allow(uid));
      }
      const number = [
        ...(replaced > 0 || deleted === 0 ? [`${replaced} Machines replaced`] : []),
        ...(deleted > 0 ? [`${deleted} deleted`] : []),
      ].join(', ');
      const annotations: Record<string, string> = isPlanned
        ? {
            impact: `${planned < clusters ? 'at least ' : ''}${number}, ${planned} of ${clusters} Clusters planned${reason === undefined ? '' : ', not all known'}`,
            ...(hash !== undefined && replaced + deleted > 0 && { 'impact-plan': hash }),
          }
        : { impact: String(reason) };
      if (deniedIn.length > 0) {
        return counted('denied', reason, denied(request, answer, deniedIn, annotations));
      }
      if (undecidedIn.length > 0) {
        const isDenied = config.deniesUnknown;
        const shown = isDenied ? denied(request, answer, undecidedIn, annotations) : warned(uid, lines, annotations);
        return counted('undecided', reason, shown);
      }
      const result = replaced + deleted > 0 || reason === undefined ? 'warned' : 'unknown';
      return counted(result, reason, warned(uid, lines, annotations));
    },
    addMetrics(registry: Registry, prefix: string) {
      metrics = createImpactMetrics(registry, prefix);
    },
    async stop() {
      isStopped = true;
      await thread.terminate();
    },
  };
}

export type ImpactReviews = ReturnType<typeof createImpactReviews>;
