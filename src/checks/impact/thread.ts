// A thread that watches the cluster and plans writes, so that other reviews do not wait for it.
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises';
import { parentPort, workerData } from 'node:worker_threads';
import { bugFields } from '../../base/index.ts';
import { decodeExtensionConfig, hubVersion, group as runtimeGroup } from '../../extensionconfig/index.ts';
import { loadKubeConfig } from '../../kubernetes/client/index.ts';
import { type JsonObject, namespacedName, namespaceOf, textAt, textValues } from '../../kubernetes/index.ts';
import { coreGroup, newestKnownRelease } from '../../runtimehooks/index.ts';
import { classNameOf, prepared } from '../../topology/index.ts';
import { createHiding, createPlanCaller } from '../plan/index.ts';
import { type Change, type Impact, impactOf, lacksObjects, subjectOf } from './impact.ts';
import {
  type Answer,
  type FromThread,
  monotonicMs,
  noPlan,
  type Question,
  type Reason,
  type ThreadSettings,
  unplanned,
} from './messages.ts';
import { unreadLabel, verdictOf } from './permission.ts';
import { impactLines, unknownOf } from './warnings.ts';
import { watchObjects } from './watched-objects.ts';

/** How long a plan runs at least while newer writes wait, in ms. */
const ownMs = 150;
/** How long to wait for objects, in ms: a class names templates of the same `kubectl apply`. */
const readingMs = 300;
/** How long a write that was allowed may take to arrive, in ms. */
const arrivingMs = 1_000;
/** How long after the start reviews wait as long as they can, in ms. */
const startingMs = 10_000;
const callingMs = 3_000;

const threadStartedMs = monotonicMs();
const settings = workerData as ThreadSettings;
const port = parentPort;
if (port === null) {
  throw new Error('this file is the main module of a thread');
}
const send = (message: FromThread) => port.postMessage(message);

const watched = watchObjects(await loadKubeConfig(settings.kubeconfig, process.env), (resource, problem) =>
  send({ is: 'problem', resource, problem }),
);

/** A text about a Cluster without the secrets of what a change reaches. */
function hidden({ object, old }: Change, text: string, cluster: string): string {
  const [namespace = ''] = cluster.split('/');
  const written = [object, old].filter((one) => one !== undefined);
  const classes = written.flatMap((one) => [namespaceOf(one), classNameOf(one).split('/')[0] ?? '']);
  const shared = [...new Set([namespace, ...classes])].flatMap((one) => watched.ownedBy(one));
  return createHiding([...written, ...shared, ...watched.ownedBy(cluster)]).text(text);
}

function unknownIn({ clusters, unasked, unplanned }: Impact): Reason | undefined {
  return unasked !== undefined
    ? 'extension'
    : unplanned.length > 0
      ? 'late'
      : clusters.some((cluster) => unknownOf(cluster) !== undefined)
        ? 'plan'
        : undefined;
}

function answerTo(number: number, change: Change, impact: Impact): Answer {
  const { losses, clusters, total } = impact;
  const lost = (verb: string) =>
    losses.reduce((sum, loss) => sum + (loss.verb === verb && !loss.isLater ? loss.machines : 0), 0);
  const verdict = verdictOf(impact, change, watched);
  const lines = impactLines(impact, (text, cluster) => hidden(change, text, cluster));
  const label = settings.denies ? unreadLabel(impact, watched) : undefined;
  if (label !== undefined) {
    lines.push(label);
  }
  const refused = clusters.find((plan) => unknownOf(plan, ['refused']) !== undefined);
  if (lines.length === 0 && verdict.undecidedIn.length > 0 && refused !== undefined) {
    const text = unknownOf(refused, ['refused']) ?? '';
    lines.push(`Cluster API refuses this: ${hidden(change, text, refused.cluster)}`);
  }
  return {
    number,
    lines,
    replaced: lost('replaces'),
    deleted: lost('deletes'),
    clusters: total,
    planned: clusters.length,
    unknown: unknownIn(impact),
    ...verdict,
    ...(!settings.denies && { deniedIn: [], undecidedIn: [] }),
  };
}

/** The last writes that were allowed, with the version of the object before, and when. */
const written = new Map<string, { object: JsonObject; before: string; atMs: number }>();

/** How much newer the version of an object in the copy is than this; undefined if one of them is not known. */
function ahead(object: JsonObject, version: string): number | undefined {
  const known = watched.versionOf(object);
  // API servers count in decimals of any length.
  return known === undefined || version === ''
    ? undefined
    : known.length - version.length || (known < version ? -1 : Number(known > version));
}

const isBehind = ({ old }: Change): boolean =>
  old !== undefined && (ahead(old, textAt(old, 'metadata', 'resourceVersion')) ?? 0) < 0;

/** Whether the copy lacks one of the last writes, which may have failed after all. */
function lacksWrites(): boolean {
  for (const [key, { atMs }] of written) {
    if (monotonicMs() > atMs + arrivingMs) {
      written.delete(key);
    }
  }
  return [...written.values()].some(({ object, before }) => (ahead(object, before) ?? 1) <= 0);
}

function createCaller() {
  const configs = watched
    .ofKind(runtimeGroup, 'ExtensionConfig')
    .map((object) => decodeExtensionConfig(object, hubVersion).object)
    .filter(({ spec }) => (spec?.clientConfig?.caBundle ?? '') !== '');
  const namespaces = new Set(watched.ofKind(coreGroup, 'Cluster').map(namespaceOf));
  const namespaceLabels = new Map([...namespaces].map((name) => [name, textValues(watched.namespaceLabels(name))]));
  const state = { configs, namespaceLabels, isDiscovered: true };
  return createPlanCaller({
    before: state,
    after: state,
    release: settings.clusterApiVersion ?? newestKnownRelease,
    signal: AbortSignal.timeout(callingMs),
  });
}

async function answer({ number, deadlineMs, isGuarded, isDryRun, ...change }: Question): Promise<Answer> {
  const startedMs = monotonicMs();
  const waitMs = isGuarded ? deadlineMs - ownMs : startedMs + readingMs;
  const startMs = startedMs < threadStartedMs + startingMs ? deadlineMs : startedMs + readingMs;
  while (
    (watched.problem !== undefined && monotonicMs() < startMs) ||
    ((isBehind(change) || lacksWrites()) && monotonicMs() < waitMs) ||
    ((watched.isReading || lacksObjects(change, watched)) && monotonicMs() < startedMs + readingMs)
  ) {
    await sleep(5);
  }
  const problem = watched.problem ?? (isBehind(change) ? 'the watch is behind' : undefined);
  if (problem !== undefined) {
    return unplanned(number, 'reading', problem);
  }
  const signal = AbortSignal.timeout(Math.max(1, Math.ceil(deadlineMs - monotonicMs())));
  const caller = settings.callsExtensions ? await createCaller() : undefined;
  try {
    const impact = await impactOf(change, watched, {
      clusterApiVersion: settings.clusterApiVersion,
      now: new Date(),
      call: caller?.call,
      updatesInPlace: settings.updatesInPlace,
      signal,
      shouldStop() {
        const now = monotonicMs();
        const isNewest = Atomics.load(settings.newest, 0) === number;
        return now > deadlineMs || (now > startedMs + ownMs && !isNewest && !isGuarded);
      },
      onBug(error) {
        send({ is: 'bug', ...bugFields(error) });
        return { text: noPlan.bug };
      },
    });
    const told = answerTo(number, change, impact);
    const object = subjectOf(change);
    if (!isDryRun && told.deniedIn.length + told.undecidedIn.length === 0) {
      const before = textAt(change.old, 'metadata', 'resourceVersion');
      written.set(namespacedName(object), { object, before, atMs: monotonicMs() });
    }
    return told;
  } finally {
    await caller?.[Symbol.asyncDispose]();
  }
}

const waiting: Question[] = [];
let isRunning = false;

/** One plan at a time, the newest first. */
async function run(): Promise<void> {
  isRunning = true;
  for (let question = waiting.pop(); question !== undefined; question = waiting.pop()) {
    const { number, deadlineMs } = question;
    try {
      send({ is: 'answer', answer: monotonicMs() < deadlineMs ? await answer(question) : unplanned(number, 'late') });
    } catch (error) {
      send({ is: 'bug', ...bugFields(error) });
      send({ is: 'answer', answer: unplanned(number, 'bug') });
    }
    // Messages that have arrived meanwhile.
    await nextTurn();
  }
  isRunning = false;
}

port.on('message', (question: Question) => {
  waiting.push({
    ...question,
    object: question.object && prepared(question.object),
    old: question.old && prepared(question.old),
  });
  if (!isRunning) {
    void run();
  }
});

while (watched.problem !== undefined || watched.isReading) {
  await sleep(50);
}
send({ is: 'ready' });
