import { Worker } from 'node:worker_threads';
import type { Counter, Registry } from 'prom-client';
import type { Log } from '../../base/index.ts';
import { metricsIn } from '../../base/metrics/index.ts';
import { group as runtimeGroup } from '../../extensionconfig/index.ts';
import { type AdmissionRequest, type AdmissionResponse, failure, textAt } from '../../kubernetes/index.ts';
import type { AdmissionOutcome } from '../../policy/index.ts';
import { coreGroup } from '../../topology/index.ts';
import { allowAnnotation } from './impact.ts';
import { type Answer, type FromThread, monotonicMs, type Question, type ThreadSettings } from './messages.ts';
import { cut, planCommand } from './warnings.ts';

/** Longest time until a review is answered, in ms: without and with calls of extensions. */
const budgetMs = { plain: 850, withExtensions: 4_700 };
/** The part of that time that is left for the answer, in ms. */
const answerMs = 150;
/** A thread that is that late has hung, in ms. */
const hungMs = 10_000;
/** Time until a thread that ended is started again, in ms. */
const restartMs = 5_000;
/** Maximum number of writes that wait: each has its object in memory. */
const maxWaiting = 32;
/** Maximum memory of the thread's objects, in MB. */
const maxHeapMb = 512;

export interface ImpactSettings extends Omit<ThreadSettings, 'newest'> {
  log: Log;
}

export interface ImpactReviews {
  review(request: AdmissionRequest): Promise<AdmissionOutcome>;
  addMetrics(registry: Registry, prefix: string): void;
  stop(): Promise<void>;
}

/** A thread's verdict on a write. */
type Outcome = Answer | 'late' | 'bug';

/** The outcome of a review, for the metric. */
const results = ['nothing', 'replaces', 'denied', 'unknown', 'late', 'bug'] as const;
type Result = (typeof results)[number];

/**
 * The service accounts of Cluster API's controllers in their usual namespaces (`capi-system`, `capv-system`): what they
 * write follows from what somebody else wrote, and is never rejected.
 */
const controllerAccount = /^system:serviceaccount:(?:cap[a-z0-9-]*-system|openshift-cluster-api):/;

const reviewedKinds: Readonly<Record<string, string>> = {
  Cluster: coreGroup,
  ClusterClass: coreGroup,
  ExtensionConfig: runtimeGroup,
};

const allowed = (uid: string): AdmissionOutcome => ({
  response: { uid, allowed: true },
  verdict: 'allowed',
  deniedBy: [],
  warnedBy: [],
});

const warned = (uid: string, warnings: string[], auditAnnotations: Record<string, string>): AdmissionOutcome => ({
  response: { uid, allowed: true, warnings, auditAnnotations },
  verdict: 'warned',
  deniedBy: [],
  warnedBy: ['impact'],
});

function denied(request: AdmissionRequest, answer: Answer, annotations: Record<string, string>): AdmissionOutcome {
  const { uid, name, namespace, kind } = request;
  const permissions = answer.hash === undefined ? '"true"' : `"${answer.hash}" (this plan) or "true"`;
  const isThere = textAt(request.object, 'metadata', 'annotations', allowAnnotation) === 'true';
  const note = isThere
    ? ' (the "true" that an earlier write set does not count: remove it first, or set the other)'
    : '';
  const message = `${answer.lines.join('; ')}. Machines in ${answer.deniedIn.map((one) => `namespace ${one}`).join(', ')} are replaced only if the same write sets the annotation ${allowAnnotation} to ${permissions}${note}; to see the plan: ${planCommand}`;
  const response: AdmissionResponse = {
    uid,
    allowed: false,
    status: failure(403, 'Forbidden', `${kind.kind} ${namespace}/${name} ${message}`),
    auditAnnotations: { ...annotations, 'denied-by': 'impact' },
  };
  return { response, verdict: 'denied', deniedBy: ['impact'], warnedBy: [] };
}

/** Reviews of writes that may replace Machines, planned in a thread of their own. */
export function createImpactReviews({ log, ...settings }: ImpactSettings): ImpactReviews {
  const newest = new Int32Array(new SharedArrayBuffer(4));
  const withinMs = settings.callsExtensions ? budgetMs.withExtensions : budgetMs.plain;
  const waiting = new Map<number, (outcome: Outcome) => void>();
  let reviewed: Counter<'result'> | undefined;
  let number = 0;
  let isReady = false;
  let isStopped = false;
  let thread = startThread();

  function startThread(): Worker {
    const started = new Worker(new URL('./thread.ts', import.meta.url), {
      workerData: { ...settings, newest } satisfies ThreadSettings,
      resourceLimits: { maxOldGenerationSizeMb: maxHeapMb },
    });
    started.on('message', (message: FromThread) => {
      if (message.is === 'ready') {
        isReady = true;
      } else if (message.is === 'problem') {
        const { resource, problem } = message;
        if (problem === undefined) {
          log.info({ resource }, 'objects for plans are up to date again');
        } else {
          log.warn({ resource, problem }, 'objects for plans may be stale or missing');
        }
      } else if (message.is === 'answer') {
        waiting.get(message.answer.number)?.(message.answer);
      } else {
        if (message.is === 'bug') {
          log.error({ error: message.error, stack: message.stack }, 'a plan failed: this is a bug');
        }
        waiting.get(message.number)?.(message.is);
      }
    });
    started.on('error', (error: Error) => {
      log.error({ problem: error.message }, 'the thread that plans writes failed');
    });
    started.once('exit', () => {
      isReady = false;
      for (const settle of [...waiting.values()]) {
        settle('late');
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

  function ask(object: Question['object'], old: Question['old']) {
    const { promise, resolve } = Promise.withResolvers<Outcome>();
    number = (number + 1) % 2 ** 30;
    const own = number;
    const asked = thread;
    const late = setTimeout(() => resolve('late'), withinMs);
    const hung = setTimeout(() => {
      log.error('the thread that plans writes hangs: another one is started');
      void asked.terminate();
    }, withinMs + hungMs).unref();
    function settle(outcome: Outcome): void {
      clearTimeout(hung);
      clearTimeout(late);
      waiting.delete(own);
      resolve(outcome);
    }
    waiting.set(own, settle);
    Atomics.store(newest, 0, own);
    thread.postMessage({
      number: own,
      object,
      old,
      deadlineMs: monotonicMs() + withinMs - answerMs,
    } satisfies Question);
    return promise;
  }

  function counted(result: Result, outcome: AdmissionOutcome): AdmissionOutcome {
    reviewed?.inc({ result });
    return outcome;
  }

  return {
    async review(request) {
      const { uid, kind, operation, object, oldObject, subResource, username } = request;
      if (
        object === undefined ||
        subResource !== '' ||
        !(operation === 'UPDATE' || operation === 'CREATE') ||
        reviewedKinds[kind.kind] !== kind.group ||
        controllerAccount.test(username)
      ) {
        return allowed(uid);
      }
      const isTooMuch = waiting.size >= maxWaiting || (operation === 'CREATE' && !isReady);
      const message = isTooMuch ? 'late' : await ask(object, oldObject);
      if (operation === 'CREATE' && (message === 'late' || (message !== 'bug' && message.clusters === 0))) {
        // Hardly any Cluster depends on an extension before it is registered.
        return allowed(uid);
      }
      if (message === 'late') {
        const line = `what happens to Machines is not known: the webhook had no plan in time: ${planCommand}`;
        return counted('late', warned(uid, [line], { impact: 'late' }));
      }
      if (message === 'bug') {
        const line = `what happens to Machines is not known: the plan failed, which is a bug of extensionconfig-webhook (its log has more)`;
        return counted('bug', warned(uid, [line], { impact: 'bug' }));
      }
      const { replaced, clusters, planned, lines, isUnknown, hash } = message;
      if (lines.length === 0) {
        return counted('nothing', allowed(uid));
      }
      const annotations = {
        impact: `${planned < clusters ? 'at least ' : ''}${replaced} Machines replaced, ${planned} of ${clusters} Clusters planned${isUnknown ? ', not all known' : ''}`,
        ...(hash !== undefined && replaced > 0 && { 'impact-plan': hash }),
      };
      if (message.deniedIn.length > 0) {
        return counted('denied', denied(request, message, annotations));
      }
      return counted(
        replaced > 0 ? 'replaces' : 'unknown',
        warned(
          uid,
          lines.map((line) => cut(line, 256)),
          annotations,
        ),
      );
    },
    addMetrics(registry, prefix) {
      reviewed = metricsIn(registry, prefix).counter(
        'impact_reviews_total',
        'Writes judged by what they do to Machines, by result: nothing, replaces, denied, unknown, late (no plan in time), bug.',
        ['result'],
      );
      for (const result of results) {
        reviewed.inc({ result }, 0);
      }
    },
    async stop() {
      isStopped = true;
      await thread.terminate();
    },
  };
}
