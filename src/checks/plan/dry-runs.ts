import { eachOf, printable, shortList, withRemedy } from '../../base/index.ts';
import { explain, Forbidden, isStatus, type KubernetesClient } from '../../kubernetes/client/index.ts';
import { groupOf, type JsonObject, nameOf, namespaceOf, objectAt, objectText, textAt } from '../../kubernetes/index.ts';
import { inV1beta2, type PlanRequest, prepared, userWrites, type World } from '../../topology/index.ts';

export interface Resource {
  group: string;
  apiVersion: string;
  kind: string;
  plural: string;
  isNamespaced: boolean;
}

type DryRun = NonNullable<World['dryRun']>;
export type DryRunAnswer = NonNullable<Awaited<ReturnType<DryRun>>>;

/** A write: `merge` sends a JSON merge patch, `apply` is server-side apply by a manager, who forces conflicts. */
export interface Write {
  is: 'create' | 'merge' | 'apply';
  sent: JsonObject;
  manager?: string | undefined;
}

/** The field manager of Cluster API's topology controller, and the annotation that it sets where it only compares. */
const topologyManager = 'capi-topology';
const trialAnnotation = 'topology.cluster.x-k8s.io/dry-run';

/** How an API server says with a 500 that it cannot read what is applied. */
const unreadable = /failed to create typed patch object|failed to convert patch object/;
/** How it says with a 400 that a webhook has side effects. */
const noDryRun = /does not support dry run/;

/** Codes with which an API server refuses a write, and those with which it answers otherwise. */
const refusals: ReadonlySet<number> = new Set([400, 403, 413, 422]);
const answered = [...refusals, 401, 404, 405, 409, 415, 500, 503, 504];

const methods = { create: 'POST', merge: 'PATCH', apply: 'APPLY' } as const;

/** Writes that an API server judges and does not store: every request is a dry run. `resources`: by group and kind. */
export function createDryRuns(client: KubernetesClient, resources: ReadonlyMap<string, Resource>) {
  /** Kinds of which nothing could be learned, and why: that is forbidden, or failed. */
  const forbidden = new Map<string, string>();
  const failed = new Map<string, string>();

  /** The API server's answer; undefined if there is none: no permission, no such namespace yet, or a silent webhook. */
  async function send({ is, sent, manager }: Write, validation?: 'Strict'): Promise<DryRunAnswer | undefined> {
    const resource = resources.get(`${groupOf(sent)} ${textAt(sent, 'kind')}`);
    const name = `${resource?.plural}.${groupOf(sent)}`;
    if (resource === undefined || forbidden.has(name)) {
      return undefined;
    }
    const { apiVersion = '', kind = '' } = sent;
    const within = resource.isNamespaced ? `/namespaces/${encodeURIComponent(namespaceOf(sent))}` : '';
    const path = `/apis/${apiVersion}${within}/${resource.plural}${is === 'create' ? '' : `/${encodeURIComponent(nameOf(sent))}`}`;
    const query = new URLSearchParams({
      dryRun: 'All',
      ...(validation !== undefined && { fieldValidation: validation }),
      ...(is === 'apply' && { fieldManager: manager ?? topologyManager, force: 'true' }),
    });
    try {
      const stored = await client.request(methods[is], `${path}?${query}`, sent);
      return { is: 'stored', object: { ...stored, apiVersion, kind } };
    } catch (error) {
      if (!isStatus(error, ...answered)) {
        if (!(error instanceof Error) || error.name === 'AbortError') {
          throw error;
        }
        failed.set(name, withRemedy(error));
        return undefined;
      }
      const { code, message } = error;
      const explained = explain(error, is === 'create' ? 'create' : 'patch', name, '');
      if (explained instanceof Forbidden) {
        forbidden.set(name, explained.message);
        return undefined;
      }
      if (refusals.has(code) ? !noDryRun.test(message) : unreadable.test(message)) {
        return { is: 'refused', error: message };
      }
      if (code !== 404) {
        failed.set(name, message);
      }
      return undefined;
    }
  }

  /** Judges an object as Cluster API's topology controller applies it. */
  const apply: DryRun = async (object, isTrial) => {
    const { apiVersion = '', kind = '', spec = {} } = object;
    const { name = '', namespace = '', labels, annotations, ownerReferences } = objectAt(object, 'metadata');
    const marks = { ...objectAt(annotations), ...(isTrial && { [trialAnnotation]: '' }) };
    const metadata = {
      name,
      namespace,
      ...(labels !== undefined && { labels }),
      ...(Object.keys(marks).length > 0 && { annotations: marks }),
      ...(ownerReferences !== undefined && { ownerReferences }),
    };
    const answer = await send({ is: 'apply', sent: { apiVersion, kind, metadata, spec } });
    if (answer?.is !== 'stored' || !isTrial) {
      return answer;
    }
    const { annotations: stored, ...others } = objectAt(answer.object, 'metadata');
    const { [trialAnnotation]: _mark, ...kept } = objectAt(stored);
    return { is: 'stored', object: { ...answer.object, metadata: { ...others, annotations: kept } } };
  };

  return {
    send,
    apply,
    notes(): string[] {
      const kinds = shortList([...forbidden.keys()], 20);
      const [first] = forbidden.values();
      const text = `no dry runs of ${kinds}: what the API server refuses and defaults is computed here (${first})`;
      return [
        ...(first === undefined ? [] : [text]),
        ...[...failed].map(([kind, why]) => `no dry run of ${kind}: ${why}`),
      ];
    },
  };
}

export type DryRuns = ReturnType<typeof createDryRuns>;

const writesAtOnce = 10;

interface UserChange {
  before: World;
  /** What is foreseen. */
  after: readonly JsonObject[];
  manifests: readonly JsonObject[];
  isEdited: boolean;
  fieldManager: string | undefined;
}

/** The state after a change, with what an API server would store of it or refuse; what it cannot be asked about is as foreseen. */
export async function askAboutWrites(
  { before, after, ...change }: UserChange,
  dryRuns: DryRuns,
): Promise<{
  after: readonly JsonObject[];
  answers: NonNullable<PlanRequest['answers']>;
  notes: string[];
}> {
  const stored = new Map<JsonObject, JsonObject>();
  const answers = new Map<JsonObject, { refusal?: { text: string } }>();
  const { writes, unasked } = userWrites(before, after, change);
  await eachOf(writes, writesAtOnce, async (write) => {
    const answer = await dryRuns.send(write, 'Strict');
    if (answer?.is === 'refused') {
      answers.set(write.after, {
        refusal: { text: `the API server refuses ${objectText(write.after)}: ${answer.error}` },
      });
    } else if (answer !== undefined) {
      const object = prepared(answer.object);
      // What is there was read in another version.
      const next = write.readAs === undefined || write.readAs === object.apiVersion ? object : inV1beta2(object);
      stored.set(write.after, next);
      answers.set(next, {});
    }
  });
  const names = unasked.map((object) => printable(objectText(object)));
  const note = `no dry run of ${shortList(names, 5)}: the API server would judge by the class or the definition that it has, not by the one of this change`;
  return {
    after: after.map((object) => stored.get(object) ?? object),
    answers,
    notes: unasked.length === 0 ? [] : [note],
  };
}
